import { handleStopSignals, signalsDelivered } from '@animal-store/app-kit/stop-signals';

const signals = handleStopSignals();

// Imported after the signals are handled: everything that the service needs takes a while to load.
const { runService } = await import('./service.ts');
await signalsDelivered();
await runService(signals.onStop);
