import type { StorageName } from './storages.ts';
import type { WorkloadName } from './workloads.ts';

/** The options of every suite. */
export interface BenchOptions {
  /** A short run for a first impression. */
  readonly quick: boolean;
  /** Undefined: the suite chooses. */
  readonly storages: readonly StorageName[] | undefined;
  /** Undefined: those of the suite. */
  readonly workloads: readonly WorkloadName[] | undefined;
  /** Whether wrk puts the load on the servers, instead of the benchmark's own client. */
  readonly wrk: boolean;
  /** The folder of another checkout. */
  readonly checkout: string | undefined;
}
