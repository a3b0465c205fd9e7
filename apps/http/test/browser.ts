import { existsSync } from 'node:fs';
import { isMissing } from '@animal-store/test-kit/not-run';
import { type BrowserContext, type BrowserContextOptions, chromium } from 'playwright-core';
import { afterAll, describe, onTestFinished } from 'vitest';

// Where Debian's package puts it. No browser is downloaded.
const CHROMIUM = process.env['CHROMIUM'] ?? '/usr/bin/chromium';

/** The name of this machine to the browser: pages of localhost have more rights. */
export const HOST = 'animals.test';

/** It calls the service only. It has no sandbox, because root can't have one. */
const QUIET = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  `--host-resolver-rules=MAP ${HOST} 127.0.0.1, MAP * ~NOTFOUND`,
];

/** Opens a profile of its own for the running test. */
export type OpenContext = (options?: BrowserContextOptions) => Promise<BrowserContext>;

export function describeInBrowser(name: string, tests: (openContext: OpenContext) => void): void {
  const missing = isMissing({
    found: existsSync(CHROMIUM),
    tests: `the tests of ${name} in a browser`,
    because: `there is no browser at ${CHROMIUM}`,
    remedy: "To run them, install Chromium (Debian's package chromium), or set CHROMIUM to its path.",
  });
  describe.skipIf(missing)(`${name} in a browser`, () => {
    let launching: ReturnType<typeof chromium.launch> | undefined;
    afterAll(async () => (await launching)?.close());
    tests(async (options) => {
      launching ??= chromium.launch({ executablePath: CHROMIUM, args: QUIET });
      const context = await (await launching).newContext(options);
      onTestFinished(() => context.close());
      return context;
    });
  });
}
