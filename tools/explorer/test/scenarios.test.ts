import { globSync } from 'node:fs';
import { basename } from 'node:path';
import { expect, test } from 'vitest';
import { findingsOf } from './findings.ts';

const FOLDER = new URL('../scenarios/', import.meta.url);

test.concurrent.each(globSync('*.ts', { cwd: FOLDER }).map((file) => basename(file, '.ts')))(
  'random orders of %s keep its promise, and each deliberate error is found',
  async (name) => {
    const findings = await findingsOf(new URL(`${name}.ts`, FOLDER));
    const asTheyAre = findings.filter(({ seeded }) => seeded === null);
    const mutants = findings.filter(({ seeded }) => seeded !== null);
    expect(asTheyAre.filter(({ failing }) => failing !== null)).toEqual([]);
    expect(mutants.filter(({ failing }) => failing === null).map(({ seeded, seed }) => [seeded, seed])).toEqual([]);
    expect(mutants).not.toEqual([]);
    const lines = findings.map(({ title, seeded, seed, runs, failing }) =>
      seeded === null
        ? `  ${title}: ${runs} runs, seed ${seed}`
        : `    ${seeded}: found in run ${runs}, ${failing?.schedule.length} steps`,
    );
    console.log([name, ...lines].join('\n'));
  },
);
