/** Ends the process. Until the service listens there is nothing to finish. */
let stop = (_signal: NodeJS.Signals): void => process.exit();

let told = false;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  // Only once: the same signal again ends the process at once.
  process.once(signal, () => {
    if (!told) stop(signal);
    told = true;
  });
}

// Imported now and not above: the first process of a container does not get a signal that it has no handler for, and
// everything that the service needs takes a while to load.
const { runService } = await import('./service.ts');
// Loading leaves Node.js no time to hand over the signals that have come meanwhile.
await new Promise((resolve) => setImmediate(resolve));

await runService((stopService) => {
  stop = stopService;
});
