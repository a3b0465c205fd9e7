import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { MONITORING, readMetrics } from './programs.ts';

const METRIC = /\b(?:http|storage|internal|log|animal_store|nodejs|process)_\w+/g;
const LABELLED = /\b((?:http|storage|internal|animal_store)_\w+)\{([^}]*)\}/g;

const { panels }: { panels: { title: string; targets: { expr: string }[] }[] } = JSON.parse(
  readFileSync(new URL('grafana-dashboard.json', MONITORING), 'utf8'),
);

test.each(['alerts.yaml', 'grafana-dashboard.json'])(
  '%s uses only metrics and labels that the service has',
  async (file) => {
    const text = readFileSync(new URL(file, MONITORING), 'utf8');
    const metrics = await readMetrics();
    const used = new Set(text.match(METRIC));
    expect(used.size).toBeGreaterThan(4);
    for (const name of used) {
      const metric = name.replace(/_(?:bucket|sum|count)$/, '');
      expect(metrics, name).toMatch(new RegExp(`^# TYPE (?:${name}|${metric}) `, 'm'));
    }
    for (const [, name = '', labels = ''] of text.matchAll(LABELLED)) {
      for (const [, label] of labels.matchAll(/(\w+)(?:=~|!=|=)/g)) {
        // Prometheus adds the job and the instance itself. A metric without a value yet shows no labels.
        if (label === 'job' || label === 'instance' || !metrics.match(new RegExp(`^${name}\\{`, 'm'))) continue;
        expect(metrics, `${name} by ${label}`).toMatch(new RegExp(`^${name}\\{[^}]*\\b${label}="`, 'm'));
      }
    }
  },
);

test('grafana-dashboard.json shows the chosen instances in every panel', () => {
  for (const { title, targets } of panels) {
    for (const { expr } of targets) {
      const selectors = expr.match(/\{[^}]*\}/g) ?? [];
      expect(selectors, title).not.toEqual([]);
      for (const selector of selectors) expect(selector, title).toContain('instance=~"$instance"');
    }
  }
});

test('grafana-dashboard.json shows durations of operations without those of probes, metrics and documents', () => {
  const durations = panels.flatMap(({ targets }) =>
    targets.filter(({ expr }) => expr.includes('http_request_duration_seconds_bucket')),
  );
  expect(durations).toHaveLength(3);
  for (const { expr } of durations) {
    const [, route = ''] = /,route=~"([^"]*)"/.exec(expr) ?? [];
    const routes = ['/v1/pets', '/animals/v1/pets/:petId', '/readyz', '/metrics', '/docs', 'unmatched'];
    const shown = routes.filter((name) => new RegExp(`^(?:${route})$`).test(name));
    expect(shown).toEqual(routes.slice(0, 2));
  }
});

test('docs/runbook.md says what to do about every alert', () => {
  const alerts = readFileSync(new URL('alerts.yaml', MONITORING), 'utf8').match(/(?<=alert: )\w+/g) ?? [];
  const manual = readFileSync(new URL('../../../docs/runbook.md', import.meta.url), 'utf8');
  expect(alerts.length).toBeGreaterThan(5);
  for (const alert of alerts) expect(manual).toContain(`| ${alert} `);
});
