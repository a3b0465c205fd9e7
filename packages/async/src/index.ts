/** @module @animal-store/async */

export { once } from './once.ts';
export { singleFlight } from './single-flight.ts';
export { createThrottle, type Throttle } from './throttle.ts';
export { withTimeout } from './with-timeout.ts';
