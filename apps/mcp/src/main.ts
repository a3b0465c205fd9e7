#!/usr/bin/env node
import { handleStopSignals, signalsDelivered } from '@animal-store/app-kit/stop-signals';

const signals = handleStopSignals();

// Imported after the signals are handled: the SDK takes a while to load.
const { serve } = await import('./serve.ts');
await signalsDelivered();
await serve(signals.onStop);
