import { describe, expect, test } from 'vitest';
import type { Measurement } from './measure.ts';
import { plot } from './plot.ts';

const axes = {
  title: 'Memory & <peers>',
  y: { key: 'perSecond', label: 'requests a second' },
  x: { key: 'connections', label: 'connections' },
} as const;

function measurement(contender: string, connections: number, perSecond: number): Measurement {
  const sample = { perSecond, cpu: 1, p99: 1, p50: 1, longest: 1, commands: Number.NaN, succeeded: 1, failed: 0 };
  return { contender, workload: 'get one', connections, pets: 10, samples: [sample] };
}

/** The points of the lines, by the class of the contender. */
function pointsOf(svg: string): Record<string, number[][]> {
  const paths = [...svg.matchAll(/class="line (s\d)"[^>]* d="M([\d. L]+)"/g)];
  return Object.fromEntries(
    paths.map(([, name = '', path = '']) => [name, path.split('L').map((point) => point.split(' ').map(Number))]),
  );
}

describe('plot', () => {
  const svg = plot(
    [
      measurement('Fastify', 1, 2_000),
      measurement('Animal Store', 1, 1_000),
      measurement('Fastify', 32, 4_000),
      measurement('Animal Store', 32, 5_000),
    ],
    axes,
  );

  test('draws a higher value above a lower one, and the value of 0 at the bottom', () => {
    const { s0: own = [], s1: peer = [] } = pointsOf(svg);
    const heights = [own, peer].map((points) => points.map(([, y]) => 164 - (y as number)));
    // In proportion to the values, from the bottom of the panel up.
    expect(heights).toEqual([
      [26, 130],
      [52, 104],
    ]);
  });

  test('draws the points of one place above each other, in ascending order of places', () => {
    const { s0: own = [], s1: peer = [] } = pointsOf(svg);
    expect(own.map(([x]) => x)).toEqual(peer.map(([x]) => x));
    expect((own[0] as number[])[0]).toBeLessThan((own[1] as number[])[0] as number);
  });

  test('names the contenders and escapes signs of XML', () => {
    for (const words of ['Animal Store', 'Fastify', 'Memory &#38; &#60;peers&#62;'])
      expect(svg).toContain(`>${words}<`);
    expect(svg).not.toContain('NaN');
  });
});
