import type { Locator, Page } from 'playwright-core';
import { expect, onTestFinished, test } from 'vitest';
import { describeInBrowser, HOST } from './browser.ts';
import { KEY, type Service, startService } from './service.ts';

const INT64_MAX = '9223372036854775807';
const INT64_MIN = '-9223372036854775808';

describeInBrowser('the documentation page', (openContext) => {
  interface Opening {
    readonly prepare?: (page: Page, service: Service) => Promise<unknown>;
    /** The path that a proxy puts before those of the service. */
    readonly prefix?: string;
  }

  /** The page in a profile of its own, on a service of its own. */
  async function openPage({ prepare, prefix = '' }: Opening = {}) {
    const service = await startService();
    const context = await openContext({ viewport: { width: 1280, height: 1000 } });
    const page = await context.newPage();
    const origin = `http://${HOST}:${service.port}`;
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
    await prepare?.(page, service);
    await page.goto(`${origin}${prefix}/docs`);
    await operation(page, 'createPet').waitFor();
    // The page has sent requests to the service only, and neither the browser nor the service reports an error.
    onTestFinished(() => {
      const elsewhere = requests.filter((url) => !url.startsWith(`${origin}/`) && !url.startsWith('data:'));
      expect({ elsewhere, complaints, unexpectedErrors: service.unexpectedErrors }).toEqual({
        ...{ elsewhere: [], complaints: [], unexpectedErrors: [] },
      });
    });
    return { page, service, origin, requests };
  }

  const operation = (page: Page, id: string) => page.locator(`#operations-Pets-${id}`);
  const shownResponse = (page: Page, id: string) => operation(page, id).locator('.live-responses-table .response');

  /** The text as a person sees it. */
  // biome-ignore lint/performance/useDomNodeTextContent: what is hidden, or of no width, is not seen
  const visibleText = (locator: Locator) => locator.innerText();

  const openAuthorization = (page: Page) => page.locator('.auth-wrapper button.authorize').click();
  const closeAuthorization = (page: Page) => page.locator('.modal-ux button.btn-done').click();

  async function authorize(page: Page, key: string) {
    await openAuthorization(page);
    await page.locator('.auth-container input[type=text]').fill(key);
    await page.keyboard.press('Enter');
    await page.locator('.auth-container', { hasText: 'Authorized' }).waitFor();
    await closeAuthorization(page);
  }

  const open = (page: Page, id: string) => operation(page, id).locator('.opblock-summary-control').click();

  /** Opens an operation for trying out. */
  async function tryOut(page: Page, id: string) {
    await open(page, id);
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
      method: response.request().method(),
      url: response.url(),
      status: await visibleText(displayed.locator('.response-col_status')),
      body: await visibleText(displayed.locator('.highlight-code pre').first()),
      curl: await visibleText(operation(page, id).locator('.curl-command pre')),
    };
  }

  test('sends the typed values, and shows responses digit for digit', async () => {
    const { page } = await openPage();
    expect(await page.title()).toBe('Animal Store');
    await authorize(page, KEY);
    const create = await tryOut(page, 'createPet');
    const editor = create.locator('textarea.body-param__text');
    const example = await editor.inputValue();
    expect(example).toBe('{\n  "name": "Rex",\n  "categoryId": 42,\n  "status": "available"\n}');
    expect(await execute(page, 'createPet')).toMatchObject({ method: 'POST', sent: example, status: '201' });

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
    expect(listed).toMatchObject({ method: 'GET', status: '200', sent: null });
    expect(listed.url).toMatch(/\/v1\/pets\?limit=2$/);
    expect(listed.body).toContain(`"categoryId": ${INT64_MAX}\n`);

    const get = await tryOut(page, 'getPet');
    expect(await get.getAttribute('class')).toContain('opblock-deprecated');
    expect(await visibleText(get)).toContain('Deprecated');
    const petId = get.locator('tr[data-param-name=petId] input');
    await petId.fill('3');
    expect(await execute(page, 'getPet')).toMatchObject({ method: 'GET', status: '200', body: pet(3, INT64_MIN) });
    expect(await visibleText(shownResponse(page, 'getPet'))).toMatch(/deprecation: @\d+/);
    await petId.fill(INT64_MAX);
    const absent = await execute(page, 'getPet');
    expect(absent.url).toMatch(new RegExp(`/v1/pets/${INT64_MAX}$`));
    expect(absent.body).toContain(INT64_MAX);
  });

  test('shows the bounds of schemas digit for digit', async () => {
    const { page } = await openPage();
    const schemas = page.locator('.models');
    await schemas.locator('.json-schema-2020-12-expand-deep-button').nth(1).click();
    await expect.poll(() => visibleText(schemas)).toContain(`[${INT64_MIN}, ${INT64_MAX}]`);
  });

  test('works behind a proxy that puts it under a prefix', async () => {
    const { page, requests } = await openPage({
      prepare: (page, { port }) =>
        page.route('**/shop/**', async (route) => {
          const url = route.request().url().replace(`${HOST}:${port}/shop/`, `127.0.0.1:${port}/`);
          await route.fulfill({ response: await route.fetch({ url }) });
        }),
      prefix: '/shop',
    });
    expect(await visibleText(page.locator('.info .title'))).toContain('Animal Store');
    expect(requests.filter((url) => !url.startsWith('data:') && !url.includes('/shop/'))).toEqual([]);
  });
});
