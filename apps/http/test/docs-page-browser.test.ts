import { existsSync } from 'node:fs';
import { type Browser, chromium, type Locator, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { isMissing } from './is-missing.ts';
import { KEY, type Service, startService } from './service.ts';

// Where Debian's package puts it. No browser is downloaded.
const CHROMIUM = process.env['CHROMIUM'] ?? '/usr/bin/chromium';

/** To the browser a host like any other: pages of a local one have more rights. */
const HOST = 'animals.test';

/** It talks to nobody but the service. Without a sandbox, which root can't have. */
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

const PATIENT = { timeout: 10_000 };

const INT64_MAX = '9223372036854775807';
const INT64_MIN = '-9223372036854775808';

const missing = isMissing({
  found: existsSync(CHROMIUM),
  tests: 'the tests of the documentation page in a browser',
  because: `there is no browser at ${CHROMIUM}`,
  remedy: "To run them, install Chromium (Debian's package chromium), or set CHROMIUM to its path.",
  variable: 'BROWSER_TESTS',
});

describe.skipIf(missing)('the documentation page in a browser', { timeout: 60_000 }, () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: CHROMIUM, args: QUIET });
  }, 60_000);
  afterAll(() => browser?.close());

  /** The page in a profile of its own, on a service of its own. At the end of the test nothing must be amiss. */
  async function openPage(prepare: (page: Page, service: Service) => Promise<unknown> = async () => {}, prefix = '') {
    const service = await startService();
    const context = await browser.newContext({ viewport: { width: 1280, height: 1000 } });
    onTestFinished(() => context.close());
    const page = await context.newPage();
    const origin = `http://${HOST}:${service.port}`;
    const requests: string[] = [];
    const complaints: string[] = [];
    page.on('request', (request) => requests.push(request.url()));
    page.on('requestfailed', (request) => complaints.push(`${request.url()}: ${request.failure()?.errorText}`));
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('console', (message) => {
      // The browser's own word for an answer that is an error, which the page shows.
      const quote = message.location().url.startsWith(`${origin}/v1/`);
      if (!quote) complaints.push(`${message.type()}: ${message.text()}`);
    });
    await prepare(page, service);
    await page.goto(`${origin}${prefix}/docs`);
    await operation(page, 'createPet').waitFor();
    /** Nobody else was asked, and nobody complained. */
    const expectQuiet = () => {
      const elsewhere = requests.filter((url) => !url.startsWith(`${origin}/`) && !url.startsWith('data:'));
      expect(elsewhere).toEqual([]);
      expect(complaints).toEqual([]);
      expect(service.unexpectedErrors).toEqual([]);
    };
    return { page, service, origin, requests, expectQuiet };
  }

  const operation = (page: Page, id: string) => page.locator(`#operations-Pets-${id}`);
  const shownAnswer = (page: Page, id: string) => operation(page, id).locator('.live-responses-table .response');

  /** The text as a person sees it. */
  // biome-ignore lint/performance/useDomNodeTextContent: what is hidden, or of no width, is not seen
  const quote = (locator: Locator) => locator.innerText();

  async function authorize(page: Page, key: string) {
    await page.locator('.auth-wrapper button.authorize').click();
    await page.locator('.auth-container input').fill(key);
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

  /** Sends the request, and returns what is shown of the answer. */
  async function execute(page: Page, id: string) {
    const answered = page.waitForResponse((response) => response.url().includes('/v1/pets'));
    await operation(page, id).locator('button.execute').click();
    const answer = await answered;
    const answerShown = shownAnswer(page, id);
    await expect.poll(() => quote(answerShown), PATIENT).toContain(answer.headers()['x-request-id']);
    return {
      sent: answer.request().postData(),
      method: answer.request().method(),
      url: answer.url(),
      status: await quote(answerShown.locator('.response-col_status')),
      body: await quote(answerShown.locator('.highlight-code pre').first()),
      curl: await quote(operation(page, id).locator('.curl-command pre')),
    };
  }

  test('it opens without asking anyone else', async () => {
    const { expectQuiet, origin, page, requests } = await openPage();
    expect(requests.filter((url) => !url.startsWith('data:')).sort()).toEqual(
      [
        '/docs',
        '/docs/docs.css',
        '/docs/docs.js',
        '/docs/swagger-ui-bundle.js',
        '/docs/swagger-ui.css',
        '/openapi.json',
      ].map((path) => origin + path),
    );
    expect(await page.title()).toBe('Animal Store');
    expect(await page.locator('#notice').isVisible()).toBe(false);
    expectQuiet();
  });

  test('createPet sends what was typed and shows what was answered, digit for digit', async () => {
    const { expectQuiet, page } = await openPage();
    await authorize(page, KEY);
    const create = await tryOut(page, 'createPet');
    const editor = create.locator('textarea.body-param__text');
    const example = await editor.inputValue();
    expect(example).toBe(`{\n  "name": "Rex",\n  "categoryId": ${INT64_MAX},\n  "status": "available"\n}`);

    const first = await execute(page, 'createPet');
    expect(first).toMatchObject({ method: 'POST', sent: example, status: '201' });
    expect(first.body).toBe(
      `{\n  "id": 1,\n  "name": "Rex",\n  "categoryId": ${INT64_MAX},\n  "status": "available"\n}`,
    );
    expect(first.curl).toContain(INT64_MAX);

    const typed = `{"name":"Max",  "categoryId":${INT64_MIN}, "other": 1.50}`;
    await editor.fill(typed);
    const second = await execute(page, 'createPet');
    expect(second).toMatchObject({ sent: typed, status: '201' });
    expect(second.body).toBe(`{\n  "id": 2,\n  "name": "Max",\n  "categoryId": ${INT64_MIN}\n}`);

    await editor.fill('{"name":"Tom","categoryId":9223372036854775808}');
    const refused = await execute(page, 'createPet');
    expect(refused.status).toMatch(/^400/);
    expect(refused.body).toContain('was 9223372036854775808');
    expectQuiet();
  });

  test('listPets shows a page', async () => {
    const { expectQuiet, page, service } = await openPage();
    await service.add(`{"name":"Rex","categoryId":${INT64_MAX},"status":"sold"}`);
    await service.add('{"name":"Max","categoryId":9007199254740993}');
    await authorize(page, KEY);
    const list = await tryOut(page, 'listPets');
    await list.locator('tr[data-param-name=limit] input').fill('1');
    const one = await execute(page, 'listPets');
    expect(one).toMatchObject({ method: 'GET', status: '200', sent: null });
    expect(one.url).toMatch(/\/v1\/pets\?limit=1$/);
    expect(JSON.parse(one.body)).toHaveLength(1);
    expect(one.body).toContain(`"categoryId": ${INT64_MAX},`);
    await list.locator('tr[data-param-name=limit] input').fill('100');
    const all = await execute(page, 'listPets');
    expect(all.body).toMatch(/"categoryId": 9007199254740993\n/);
    expectQuiet();
  });

  test('getPet is shown as deprecated, and works', async () => {
    const { expectQuiet, page, service } = await openPage();
    await service.add(`{"name":"Rex","categoryId":${INT64_MIN}}`);
    await authorize(page, KEY);
    const get = await tryOut(page, 'getPet');
    expect(await get.getAttribute('class')).toContain('opblock-deprecated');
    expect(await quote(get)).toContain('Deprecated');
    await get.locator('tr[data-param-name=petId] input').fill('1');
    const found = await execute(page, 'getPet');
    expect(found).toMatchObject({ method: 'GET', status: '200' });
    expect(found.body).toBe(`{\n  "id": 1,\n  "name": "Rex",\n  "categoryId": ${INT64_MIN}\n}`);
    expect(await quote(shownAnswer(page, 'getPet'))).toMatch(/deprecation: @\d+/);

    await get.locator('tr[data-param-name=petId] input').fill(INT64_MAX);
    const absent = await execute(page, 'getPet');
    expect(absent.url).toMatch(new RegExp(`/v1/pets/${INT64_MAX}$`));
    expect(absent.status).toMatch(/^404/);
    expect(absent.body).toContain(INT64_MAX);
    expectQuiet();
  });

  test.each([
    ['a wrong key', 'not-the-key-of-anyone', 'invalid API key'],
    ['no key', null, 'missing API key'],
  ])('%s: the message quotes it', async (_name, key, message) => {
    const { expectQuiet, page } = await openPage();
    if (key !== null) await authorize(page, key);
    await tryOut(page, 'listPets');
    const refused = await execute(page, 'listPets');
    expect(refused.status).toMatch(/^401/);
    expect(refused.body).toContain('"code": "unauthorized"');
    expect(refused.body).toContain(message);
    expectQuiet();
  });

  test('schemas show their bounds digit for digit', async () => {
    const { expectQuiet, page } = await openPage();
    const schemas = page.locator('.models');
    await schemas.locator('.json-schema-2020-12-expand-deep-button').nth(1).click();
    await expect.poll(() => quote(schemas), PATIENT).toContain(`[${INT64_MIN}, ${INT64_MAX}]`);
    expectQuiet();
  });

  test('another document than the own is not loaded, whatever the address says', async () => {
    const { expectQuiet, origin, page } = await openPage();
    await page.goto(`${origin}/docs?url=https://foreign.example/openapi.json&configUrl=https://foreign.example/x`);
    await operation(page, 'createPet').waitFor();
    expectQuiet();
  });

  test('behind a proxy it may have a prefix', async () => {
    const { expectQuiet, page, requests } = await openPage(
      (page, { port }) =>
        page.route('**/shop/**', async (route) => {
          const url = route.request().url().replace(`${HOST}:${port}/shop/`, `127.0.0.1:${port}/`);
          await route.fulfill({ response: await route.fetch({ url }) });
        }),
      '/shop',
    );
    expect(await quote(page.locator('.info .title'))).toContain('Animal Store');
    expect(requests.filter((url) => !url.startsWith('data:') && !url.includes('/shop/'))).toEqual([]);
    expectQuiet();
  });

  test('a browser that can keep no digits says so', async () => {
    const { expectQuiet, page } = await openPage((page) => page.addInitScript('delete JSON.rawJSON'));
    expect(await quote(page.locator('#notice'))).toContain('rounded');
    await tryOut(page, 'createPet');
    expectQuiet();
  });
});
