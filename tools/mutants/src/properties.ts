import * as fc from 'fast-check';

// A mutant needs one counterexample, not the smallest one, and no property may take most of the time.
fc.configureGlobal({ endOnFailure: true, interruptAfterTimeLimit: 500 });
