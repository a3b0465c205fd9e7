import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const PROMTOOL = process.env['PROMTOOL'] ?? 'promtool';

/** The folder of the alerts and the dashboard. */
export const MONITORING: URL = new URL('../monitoring/', import.meta.url);

/** Runs Prometheus' tool in that folder. */
export function promtool(...words: string[]): { status: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync(PROMTOOL, words, { cwd: fileURLToPath(MONITORING), encoding: 'utf8' });
  return { status, output: `${stdout}${stderr}` };
}

/** Why the tool can't be run here; null if it can. */
export function whyNoPromtool(): string | null {
  return promtool('--version').status === 0 ? null : `"${PROMTOOL} --version" fails`;
}
