import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { startService } from './service.ts';

const MONITORING = new URL('../../../tools/monitoring/', import.meta.url);
const FIGURE = /\b(?:http|animal_store|nodejs|process)_\w+/g;
const LABELLED = /\b((?:http|animal_store)_\w+)\{([^}]*)\}/g;

test.each(['alerts.yaml', 'grafana-dashboard.json'])(
  '%s asks for figures and labels that the service has',
  async (file) => {
    const text = readFileSync(new URL(file, MONITORING), 'utf8');
    const { add, call } = await startService();
    await add({ name: 'Rex', categoryId: 1 });
    await call('GET', '/v1/pets');
    const figures = (await call('GET', '/metrics')).text;
    const asked = new Set(text.match(FIGURE));
    expect(asked.size).toBeGreaterThan(4);
    for (const name of asked) {
      const figure = name.replace(/_(?:bucket|sum|count)$/, '');
      expect(figures, name).toMatch(new RegExp(`^# TYPE (?:${name}|${figure}) `, 'm'));
    }
    for (const [, name = '', labels = ''] of text.matchAll(LABELLED)) {
      for (const [, label] of labels.matchAll(/(\w+)(?:=~|!=|=)/g)) {
        // Prometheus adds the job itself; a figure that nothing has happened to yet shows no labels.
        if (label === 'job' || !figures.match(new RegExp(`^${name}\\{`, 'm'))) continue;
        expect(figures, `${name} by ${label}`).toMatch(new RegExp(`^${name}\\{[^}]*\\b${label}="`, 'm'));
      }
    }
  },
);

test('each alert is explained to operators', () => {
  const alerts = readFileSync(new URL('alerts.yaml', MONITORING), 'utf8').match(/(?<=alert: )\w+/g) ?? [];
  const manual = readFileSync(new URL('../../../docs/operations.md', import.meta.url), 'utf8');
  expect(alerts.length).toBeGreaterThan(5);
  for (const alert of alerts) expect(manual).toContain(`### ${alert}\n`);
});
