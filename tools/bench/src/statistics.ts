/** The value below which a share of the values lies. `share` is from 0 to 1. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}

/** The upper one of the two in the middle if their number is even. */
export const median = (values: readonly number[]): number => quantile(values, 0.5);

/** The median of the ratios of rounds: both sides of a round were measured right after each other. */
export const medianRatio = (values: readonly number[], base: readonly number[]): number =>
  median(values.map((value, round) => value / (base[round] ?? Number.NaN)));
