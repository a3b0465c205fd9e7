import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { isMissing } from './is-missing.ts';
import { startService } from './service.ts';

const MONITORING = new URL('../../../tools/monitoring/', import.meta.url);
const METRIC = /\b(?:http|animal_store|nodejs|process)_\w+/g;
const LABELLED = /\b((?:http|animal_store)_\w+)\{([^}]*)\}/g;

test.each(['alerts.yaml', 'grafana-dashboard.json'])(
  '%s uses only metrics and labels that the service has',
  async (file) => {
    const text = readFileSync(new URL(file, MONITORING), 'utf8');
    const { add, call } = await startService();
    await add({ name: 'Rex', categoryId: 1 });
    await call('GET', '/v1/pets');
    const metrics = (await call('GET', '/metrics')).text;
    const asked = new Set(text.match(METRIC));
    expect(asked.size).toBeGreaterThan(4);
    for (const name of asked) {
      const metric = name.replace(/_(?:bucket|sum|count)$/, '');
      expect(metrics, name).toMatch(new RegExp(`^# TYPE (?:${name}|${metric}) `, 'm'));
    }
    for (const [, name = '', labels = ''] of text.matchAll(LABELLED)) {
      for (const [, label] of labels.matchAll(/(\w+)(?:=~|!=|=)/g)) {
        // Prometheus adds the job itself; a metric that nothing has happened to yet shows no labels.
        if (label === 'job' || !metrics.match(new RegExp(`^${name}\\{`, 'm'))) continue;
        expect(metrics, `${name} by ${label}`).toMatch(new RegExp(`^${name}\\{[^}]*\\b${label}="`, 'm'));
      }
    }
  },
);

test('docs/operations.md explains every alert', () => {
  const alerts = readFileSync(new URL('alerts.yaml', MONITORING), 'utf8').match(/(?<=alert: )\w+/g) ?? [];
  const manual = readFileSync(new URL('../../../docs/operations.md', import.meta.url), 'utf8');
  expect(alerts.length).toBeGreaterThan(5);
  for (const alert of alerts) expect(manual).toContain(`### ${alert}\n`);
});

const PROMTOOL = process.env['PROMTOOL'] ?? 'promtool';

function promtool(...words: string[]) {
  const { status, stdout, stderr } = spawnSync(PROMTOOL, words, { cwd: fileURLToPath(MONITORING), encoding: 'utf8' });
  return { status, output: `${stdout}${stderr}` };
}

const missing = isMissing({
  found: promtool('--version').status === 0,
  tests: 'the tests of the alerting rules',
  because: `there is no ${PROMTOOL}`,
  remedy: "To run them, install Prometheus (Debian's package prometheus), or set PROMTOOL to promtool's path.",
  variable: 'ALERT_TESTS',
});

describe.skipIf(missing)('alerting rules', () => {
  test('are well-formed', () => {
    expect(promtool('check', 'rules', 'alerts.yaml')).toMatchObject({ status: 0 });
  });

  test('fire in each failure, and not while all is well', () => {
    const { status, output } = promtool('test', 'rules', 'alerts.test.yaml');
    expect(output).toContain('SUCCESS');
    expect(status).toBe(0);
  });
});
