/** A storage for a run. */
export interface OpenStorage {
  /** The environment of a server that shares its pets with no other. */
  environment(): NodeJS.ProcessEnv;
  /** The work of a database server since its start; absent if there is none. */
  usage?(): Promise<{ readonly cpuSeconds: number; readonly commands: number }>;
  /** Removes all of it. */
  close(): Promise<void>;
}
