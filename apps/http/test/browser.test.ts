import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { stripTypeScriptTypes } from 'node:module';
import type { AddressInfo } from 'node:net';
import { isMissing } from '@animal-store/test-kit/not-run';
import axe from 'axe-core';
import { chromium, type Locator, type Page } from 'playwright-core';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { KEY, startService } from './service.ts';

// Where Debian's package puts it. No browser is downloaded.
const CHROMIUM = process.env['CHROMIUM'] ?? '/usr/bin/chromium';

/** The name of this machine to the browser: pages of localhost have more rights. */
const HOST = 'animals.test';

/** It calls the service only. It has no sandbox, because root can't have one. */
const QUIET = [
  ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'],
  ...['--disable-component-update', '--disable-sync', `--host-resolver-rules=MAP ${HOST} 127.0.0.1, MAP * ~NOTFOUND`],
];

const [INT64_MIN, INT64_MAX] = ['-9223372036854775808', '9223372036854775807'];

/** The rules of axe that Swagger UI breaks itself, with its reports: https://github.com/swagger-api/swagger-ui/issues/. */
const REPORTED_UPSTREAM: Readonly<Record<string, number>> = {
  'nested-interactive': 9570,
  'select-name': 10_698,
  label: 10_698,
  'button-name': 10_699,
  'label-content-name-mismatch': 10_699,
  'heading-order': 10_703,
  region: 10_706,
  'landmark-unique': 7350,
  'scrollable-region-focusable': 5290,
};

const missing = isMissing({
  found: existsSync(CHROMIUM),
  tests: 'the tests in a browser',
  because: `there is no browser at ${CHROMIUM}`,
  remedy: "To run them, install Chromium (Debian's package chromium), or set CHROMIUM to its path.",
});

let launching: ReturnType<typeof chromium.launch> | undefined;
afterAll(async () => (await launching)?.close());

/** A page in a profile of its own. */
async function newPage(width = 1280): Promise<Page> {
  launching ??= chromium.launch({ executablePath: CHROMIUM, args: QUIET });
  const context = await (await launching).newContext({ viewport: { width, height: 1000 } });
  onTestFinished(() => context.close());
  return context.newPage();
}

describe.skipIf(missing)('the documentation page', () => {
  /** The page of a service of its own, behind a proxy that puts it under a prefix if there is one. */
  async function openPage({ prefix = '', width = 1280 } = {}) {
    const { port, unexpectedErrors } = await startService();
    const page = await newPage(width);
    const origin = `http://${HOST}:${port}`;
    const requests: string[] = [];
    const complaints: string[] = [];
    page.on('request', (request) => requests.push(request.url()));
    page.on('requestfailed', (request) => complaints.push(`${request.url()}: ${request.failure()?.errorText}`));
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('console', (message) => {
      // The browser's own message for a response that is an error, which the page shows.
      const isResponse = message.location().url.startsWith(`${origin}/v1/`);
      if (!isResponse) complaints.push(`${message.type()}: ${message.text()}`);
    });
    await page.route(`${origin}/shop/**`, async (route) => {
      const url = route.request().url().replace(`${origin}/shop/`, `http://127.0.0.1:${port}/`);
      await route.fulfill({ response: await route.fetch({ url }) });
    });
    await page.goto(`${origin}${prefix}/docs`);
    await operation(page, 'createPet').waitFor();
    // The page has sent requests to the service only, and neither the browser nor the service reports an error.
    onTestFinished(() => {
      const elsewhere = requests.filter((url) => !url.startsWith(`${origin}${prefix}/`) && !url.startsWith('data:'));
      expect([elsewhere, complaints, unexpectedErrors]).toEqual([[], [], []]);
    });
    return page;
  }

  const operation = (page: Page, id: string) => page.locator(`#operations-Pets-${id}`);
  const shownResponse = (page: Page, id: string) => operation(page, id).locator('.live-responses-table .response');

  /** The text as a person sees it. */
  // biome-ignore lint/performance/useDomNodeTextContent: what is hidden, or of no width, is not seen
  const visibleText = (locator: Locator) => locator.innerText();

  async function authorize(page: Page, key: string) {
    await page.locator('.auth-wrapper button.authorize').click();
    await page.locator('.auth-container input[type=text]').fill(key);
    await page.keyboard.press('Enter');
    await page.locator('.auth-container', { hasText: 'Authorized' }).waitFor();
    await page.locator('.modal-ux button.btn-done').click();
  }

  /** Opens an operation for trying out. */
  async function tryOut(page: Page, id: string) {
    await operation(page, id).locator('.opblock-summary-control').click();
    await operation(page, id).locator('button.try-out__btn').click();
    return operation(page, id);
  }

  /** Sends the request, and returns the response as the page shows it. */
  async function execute(page: Page, id: string) {
    const received = page.waitForResponse((response) => response.url().includes('/v1/pets'));
    await operation(page, id).locator('button.execute').click();
    const response = await received;
    const displayed = shownResponse(page, id);
    await expect.poll(() => visibleText(displayed)).toContain(response.headers()['x-request-id']);
    return {
      sent: response.request().postData(),
      url: response.url(),
      status: await visibleText(displayed.locator('.response-col_status')),
      body: await visibleText(displayed.locator('.highlight-code pre').first()),
      curl: await visibleText(operation(page, id).locator('.curl-command pre')),
    };
  }

  test('sends the typed values, and shows responses digit for digit', async () => {
    const page = await openPage();
    expect(await page.title()).toBe('Animal Store');
    await authorize(page, KEY);
    const create = await tryOut(page, 'createPet');
    const editor = create.locator('textarea.body-param__text');
    const example = await editor.inputValue();
    expect(example).toBe('{\n  "name": "Rex",\n  "categoryId": 42,\n  "status": "available"\n}');
    expect(await execute(page, 'createPet')).toMatchObject({ sent: example, status: '201' });

    const pet = (id: number, categoryId: string) =>
      `{\n  "id": ${id},\n  "name": "Max",\n  "categoryId": ${categoryId}\n}`;
    for (const [index, categoryId] of [INT64_MAX, INT64_MIN].entries()) {
      const typed = `{"name":"Max",  "categoryId":${categoryId}, "other": 1.50}`;
      await editor.fill(typed);
      const created = await execute(page, 'createPet');
      expect(created).toMatchObject({ sent: typed, status: '201', body: pet(index + 2, categoryId) });
      expect(created.curl).toContain(categoryId);
    }
    await editor.fill('{"name":"Tom","categoryId":9223372036854775808}');
    const rejected = await execute(page, 'createPet');
    expect(rejected.status).toMatch(/^400/);
    expect(rejected.body).toContain('was 9223372036854775808');

    const list = await tryOut(page, 'listPets');
    await list.locator('tr[data-param-name=limit] input').fill('2');
    const listed = await execute(page, 'listPets');
    expect(listed).toMatchObject({ status: '200', sent: null, url: expect.stringMatching(/\/v1\/pets\?limit=2$/) });
    expect(listed.body).toContain(`"categoryId": ${INT64_MAX}\n`);

    const get = await tryOut(page, 'getPet');
    expect(await visibleText(get)).toContain('Deprecated');
    const petId = get.locator('tr[data-param-name=petId] input');
    await petId.fill('3');
    expect(await execute(page, 'getPet')).toMatchObject({ status: '200', body: pet(3, INT64_MIN) });
    expect(await visibleText(shownResponse(page, 'getPet'))).toMatch(/deprecation: @\d+/);
    await petId.fill(INT64_MAX);
    const absent = await execute(page, 'getPet');
    expect(absent.url).toMatch(new RegExp(`/v1/pets/${INT64_MAX}$`));
    expect(absent.body).toContain(INT64_MAX);
  });

  test('shows the bounds of schemas digit for digit', async () => {
    const schemas = (await openPage()).locator('.models');
    await schemas.locator('.json-schema-2020-12-expand-deep-button').nth(1).click();
    await expect.poll(() => visibleText(schemas)).toContain(`[${INT64_MIN}, ${INT64_MAX}]`);
  });

  test.each([1280, 390])(
    'can be read by everyone, and nothing is cut, with all of it open and a width of %i pixels',
    async (width) => {
      const page = await openPage({ width });
      await page.evaluate(axe.source);
      const check = async () => {
        const { violations } = await page.evaluate<axe.AxeResults>(
          "axe.run({ rules: { 'target-size': { enabled: true } } })",
        );
        const own = violations.filter(({ id }) => !(id in REPORTED_UPSTREAM));
        expect(own.flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${target}`))).toEqual([]);
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
        // A word is not broken into single letters.
        const widths = await page
          .locator('.responses-table :is(td, th)')
          .evaluateAll((cells) => cells.flatMap((cell) => (cell.checkVisibility() ? [cell.clientWidth] : [])));
        expect(Math.min(...widths)).toBeGreaterThan(30);
      };
      for (const id of ['listPets', 'createPet', 'getPet']) await tryOut(page, id);
      await execute(page, 'listPets');
      for (const index of [0, 1, 2, 3, 4]) {
        await page
          .locator('.models > div > article > div > .json-schema-2020-12-expand-deep-button')
          .nth(index)
          .click();
      }
      await check();
      await page.locator('.auth-wrapper button.authorize').click();
      await page.locator('.auth-container input').waitFor();
      await check();
    },
  );

  test('can be used with a keyboard alone', async () => {
    const page = await openPage();
    const press = (key: string) => page.keyboard.press(key);
    /** Presses Tab until this element has the focus, which is seen. */
    async function tabTo(selector: string): Promise<void> {
      const target = page.locator(`${selector}:focus`);
      for (let presses = 0; (await target.count()) === 0 && presses < 40; presses += 1) await press('Tab');
      expect(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')).toMatch(/^(?:auto|solid)$/);
    }
    await tabTo('.authorize');
    await press('Enter');
    await page.locator('.auth-container input:focus').waitFor();
    await page.keyboard.type(KEY);
    await press('Enter');
    await tabTo('.btn-done');
    await press('Enter');
    await page.locator('.auth-container').waitFor({ state: 'detached' });
    for (const control of ['.opblock-summary-control', '.try-out__btn', '.execute']) {
      await tabTo(`#operations-Pets-createPet ${control}`);
      await press('Enter');
    }
    await expect.poll(() => visibleText(shownResponse(page, 'createPet'))).toContain('"name": "Rex"');
  });

  test('works behind a proxy that puts it under a prefix', async () => {
    const page = await openPage({ prefix: '/shop' });
    expect(await visibleText(page.locator('.info .title'))).toContain('Animal Store');
  });
});

describe.skipIf(missing)('the client', () => {
  const SOURCES = new URL('../../../packages/', import.meta.url);
  const IMPORT_MAP = { imports: { '@animal-store/exact-json': '/exact-json/src/index.ts' } };

  /** A site whose scripts are the sources of the client without their types. */
  async function startSite(): Promise<string> {
    const site = createServer(({ url = '' }, response) => {
      const file = /^\/((?:client|exact-json)\/src\/[\w-]+\.ts)$/.exec(url)?.[1];
      response.setHeader('content-type', file === undefined ? 'text/html' : 'text/javascript');
      if (file === undefined) response.end(`<script type="importmap">${JSON.stringify(IMPORT_MAP)}</script>`);
      else response.end(stripTypeScriptTypes(readFileSync(new URL(file, SOURCES), 'utf8')));
    });
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void site.close());
    return `http://${HOST}:${(site.address() as AddressInfo).port}`;
  }

  test('calls a service of another origin with exact integers', async () => {
    const site = await startSite();
    const { port, logged } = await startService({ CORS_ORIGINS: site });
    const page = await newPage();
    await page.goto(site);
    const program = `(async () => {
      const { createClient } = await import('/client/src/index.ts');
      const client = createClient({ url: 'http://${HOST}:${port}/v1', key: '${KEY}' });
      for (const name of ['Rex', 'Max']) await client.createPet({ name, categoryId: ${INT64_MAX}n });
      const { pets, next } = await client.listPets({ limit: 1 });
      for await (const pet of client.allPets({ cursor: next })) pets.push(pet);
      const { code, requestId } = await client.listPets({ limit: 0 }).catch((error) => error);
      return [pets.map((pet) => pet.name + pet.categoryId), code, requestId];
    })()`;
    const names = ['Rex', 'Max'].map((name) => name + INT64_MAX);
    const [read, code, requestId] = (await page.evaluate(program)) as unknown[];
    expect([read, code]).toEqual([names, 'invalid_request']);
    expect(logged.at(-1)).toMatchObject({ status: 400, requestId });
  });
});
