import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type RunLoad, requestsOf } from './load.ts';

/** Sends the requests of a file, which are separated by zero bytes, and prints what was measured. */
const SCRIPT = `
local requests, sent = {}, 0
function init(arguments)
  for request in io.open(arguments[1], 'rb'):read('*a'):gmatch('[^%z]+') do requests[#requests + 1] = request end
end
function request()
  sent = sent + 1
  return requests[sent % #requests + 1]
end
function done(summary, latency)
  local errors = summary.errors
  print(string.format('{"responses":%d,"rejected":%d,"lost":%d,"seconds":%f,"p50":%f,"p99":%f}', summary.requests, errors.status,
    errors.connect + errors.read + errors.write, summary.duration / 1e6,
    latency:percentile(50) / 1e3, latency:percentile(99) / 1e3))
end
`;

/**
 * Has wrk put the load on a server, for whole seconds. Its latencies are corrected for coordinated omission, so they are longer
 * than those of the other client. It does not count connections that end without a response.
 */
export const runWrk: RunLoad = async (server, workload, options) => {
  const folder = mkdtempSync(join(tmpdir(), 'animal-store-wrk-'));
  try {
    const [script, requests] = [join(folder, 'load.lua'), join(folder, 'requests')];
    writeFileSync(script, SCRIPT);
    writeFileSync(requests, Buffer.concat(requestsOf(server, workload, options).flatMap((one) => [one, Buffer.of(0)])));
    const { connections, seconds } = options;
    const limits = ['-t', '1', '-c', String(connections), '-d', String(Math.ceil(seconds))];
    const cpuBefore = server.cpuSeconds();
    const { stdout } = await promisify(execFile)('wrk', [...limits, '-s', script, server.url, '--', requests]);
    const cpu = server.cpuSeconds() - cpuBefore;
    const measured = JSON.parse(stdout.slice(stdout.indexOf('{')));
    const succeeded = measured.responses - measured.rejected;
    if (succeeded === 0) throw new Error(`${server.name}: no successful response`);
    return {
      perSecond: succeeded / measured.seconds,
      p50: measured.p50,
      p99: measured.p99,
      cpu: (cpu / measured.responses) * 1e6,
      succeeded,
      failed: measured.rejected + measured.lost,
      unavailable: Number.NaN,
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
};
