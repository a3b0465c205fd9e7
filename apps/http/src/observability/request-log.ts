import { type AuthenticatedKey, reasonOf } from '@animal-store/domain/transport';
import { LEVELS, type Log } from '@animal-store/observability';
import type { Exchange, Observer } from '../http/exchange.ts';
import { OPERATOR_MESSAGES } from '../http/operator-messages.ts';
import { createAnonymousCount } from './anonymous-requests.ts';

/** Called every few seconds by machines. */
const PROBES: ReadonlySet<string> = new Set(['/livez', '/readyz', '/healthz', '/metrics']);

/**
 * Writes a line for each request to the log. Above level debug successful probes have none, and requests without a valid key are
 * summarized. Warns of responses with status 503.
 */
export function createRequestLog({
  addLine,
  info,
  isLevelEnabled,
  readable,
  warnThrottled,
}: Pick<Log, 'addLine' | 'info' | 'isLevelEnabled' | 'readable' | 'warnThrottled'>): Observer {
  const warnUnavailable = ({ unavailable }: Exchange) => {
    if (unavailable === null) return;
    const { reason, error } = unavailable;
    const message = OPERATOR_MESSAGES.unavailable[reason];
    if (message !== null) warnThrottled(message, reason === 'storage' ? { reason: reasonOf(error) } : {});
  };
  if (!isLevelEnabled('info')) return warnUnavailable;
  const keyMembers = createKeyMembers();
  const logsAll = isLevelEnabled('debug');
  const countAnonymous = createAnonymousCount(info);
  return (exchange, { status }, bytes, duration) => {
    warnUnavailable(exchange);
    const { id, method, route, traceId, client, key, rejectedKey, unavailable } = exchange;
    const routine = status < 400 && PROBES.has(route);
    if (!logsAll && (routine || (key === null && !countAnonymous(exchange, status)))) return;
    const milliseconds = Math.round(duration * 1000) / 1000;
    if (readable) {
      const why = unavailable === null ? '' : ` (${unavailable.reason})`;
      addLine(
        `${method} ${route} ${status}${why} ${milliseconds} ms ${bytes} bytes ${key?.holder ?? rejectedKey ?? '-'} ${id}\n`,
      );
      return;
    }
    // This takes a third of the time of JSON.stringify. Every value is a number, made by the service or matches a pattern without
    // characters that JSON escapes; the method is a token (RFC 9110); only a holder's name can be anything.
    let line =
      `{"level":${routine ? LEVELS.debug : LEVELS.info},"time":${Date.now()},"msg":"request","method":"${method}",` +
      `"route":"${route}","status":${status},"duration":${milliseconds},"bytes":${bytes},"requestId":"${id}"`;
    if (client !== null) line += `,"client":"${client}"`;
    if (rejectedKey !== null) line += `,"key":"${rejectedKey}"`;
    if (unavailable !== null) line += `,"reason":"${unavailable.reason}"`;
    if (traceId !== null) line += `,"traceId":"${traceId}"`;
    if (key !== null) line += keyMembers(key);
    addLine(`${line}}\n`);
  };
}

/** Caches the text of the last key, which is often the next one: 2 % of a request. */
function createKeyMembers(): (key: AuthenticatedKey) => string {
  let last: { readonly id: string; readonly members: string } | undefined;
  return ({ id, holder }) => {
    if (last?.id !== id) last = { id, members: `,"keyId":${JSON.stringify(id)},"holder":${JSON.stringify(holder)}` };
    return last.members;
  };
}
