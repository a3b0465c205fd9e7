import axe from 'axe-core';
import type { Locator, Page } from 'playwright-core';
import { describe, expect, onTestFinished, test } from 'vitest';
import { describeInBrowser, HOST } from './browser.ts';
import { KEY, type Service, startService } from './service.ts';

const INT64_MAX = '9223372036854775807';
const INT64_MIN = '-9223372036854775808';

describeInBrowser('the documentation page', (openContext) => {
  interface Opening {
    readonly prepare?: (page: Page, service: Service) => Promise<unknown>;
    /** The path that a proxy puts before those of the service. */
    readonly prefix?: string;
    /** In pixels. */
    readonly width?: number;
    readonly colorScheme?: 'light' | 'dark';
  }

  /** The page in a profile of its own, on a service of its own. */
  async function openPage({ prepare, prefix = '', width = 1280, colorScheme = 'light' }: Opening = {}) {
    const service = await startService();
    const context = await openContext({ viewport: { width, height: 1000 }, colorScheme });
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

  async function authorize(page: Page, key: string, keep = false) {
    await openAuthorization(page);
    await page.locator('.auth-container input[type=text]').fill(key);
    await page.keyboard.press('Enter');
    await page.locator('.auth-container', { hasText: 'Authorized' }).waitFor();
    if (keep) await page.getByLabel('Keep the key until this tab is closed').check();
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
    expect(await page.locator('#notice').isVisible()).toBe(false);
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

  test('folds the error responses of an operation', async () => {
    const { page } = await openPage();
    await open(page, 'createPet');
    const statuses = () => operation(page, 'createPet').locator('tr.response > .response-col_status').allInnerTexts();
    await expect.poll(statuses).toEqual(['201']);
    await page.getByRole('button', { name: 'Show 9 error responses', expanded: false }).click();
    expect(await statuses()).toEqual(['201', '400', '401', '413', '415', '422', '429', '500', '503', 'default']);
    await page.getByRole('button', { name: 'Hide 9 error responses', expanded: true }).click();
    expect(await statuses()).toEqual(['201']);
  });

  describe('a key', () => {
    const isAuthorized = async (page: Page) => {
      await operation(page, 'createPet').waitFor();
      await openAuthorization(page);
      const authorized = await page.locator('.auth-container', { hasText: 'Authorized' }).isVisible();
      await closeAuthorization(page);
      return authorized;
    };

    test('is stored for the tab only if the reader asks for it', async () => {
      const { origin, page } = await openPage();
      await authorize(page, KEY);
      expect(await page.evaluate('JSON.stringify([sessionStorage, localStorage])')).not.toContain(KEY);
      await page.reload();
      expect(await isAuthorized(page)).toBe(false);
      await authorize(page, KEY, true);
      await page.reload();
      await tryOut(page, 'listPets');
      expect(await execute(page, 'listPets')).toMatchObject({ status: '200' });

      const other = await page.context().newPage();
      await other.goto(`${origin}/docs`);
      expect(await isAuthorized(other)).toBe(false);
    });

    test.each([
      ['asks to forget it', (page: Page) => page.getByLabel('Keep the key until this tab is closed').uncheck()],
      ['logs out', (page: Page) => page.locator('.auth-container button', { hasText: 'Logout' }).click()],
    ])('is forgotten if the reader %s', async (_name, forget) => {
      const { page } = await openPage();
      await authorize(page, KEY, true);
      await openAuthorization(page);
      await forget(page);
      expect(await page.evaluate('JSON.stringify([sessionStorage, localStorage])')).not.toContain(KEY);
      await page.reload();
      expect(await isAuthorized(page)).toBe(false);
    });
  });

  test('has the colours that the reader prefers, also when that changes', async () => {
    const { origin, page } = await openPage({ colorScheme: 'dark' });
    const background = () => page.evaluate('getComputedStyle(document.body).backgroundColor');
    const [LIGHT, DARK] = ['rgb(250, 250, 250)', 'rgb(28, 32, 34)'];
    await expect.poll(background).toBe(DARK);
    await page.emulateMedia({ colorScheme: 'light' });
    await expect.poll(background).toBe(LIGHT);
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.goto(`${origin}/docs/clients`);
    expect(await background()).toBe(DARK);
  });

  describe('accessibility', () => {
    /** The critical and serious reports of axe-core, by rule and element. */
    async function violations(page: Page): Promise<string[]> {
      await page.evaluate(axe.source);
      const { violations } = (await page.evaluate('axe.run(document)')) as axe.AxeResults;
      return violations
        .filter(({ impact }) => impact === 'critical' || impact === 'serious')
        .flatMap(({ id, nodes }) => nodes.map(({ failureSummary, html }) => `${id}: ${html}: ${failureSummary}`));
    }

    test.each([
      { colorScheme: 'light', width: 390 },
      { colorScheme: 'dark', width: 1280 },
    ] as const)('has no serious violation with $colorScheme colours and a width of $width', async (opening) => {
      const { origin, page } = await openPage(opening);
      const check = async () => {
        expect(await violations(page)).toEqual([]);
        // No horizontal scrolling.
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(opening.width);
      };
      await check();
      await openAuthorization(page);
      await check();
      await page.locator('.auth-container input[type=text]').fill(KEY);
      await page.keyboard.press('Enter');
      await page.locator('.auth-container', { hasText: 'Authorized' }).waitFor();
      await check();
      await closeAuthorization(page);

      for (const id of ['listPets', 'createPet', 'getPet']) {
        const opened = await tryOut(page, id);
        await opened.locator('.errors-toggle').click();
        if (id === 'getPet') await opened.getByPlaceholder('petId').fill('1');
        await execute(page, id);
      }
      await expectNothingCovered(page);
      for (const schema of await page.locator('.models .json-schema-2020-12-expand-deep-button').all()) {
        if (await schema.isVisible()) await schema.click();
      }
      await check();

      for (const manual of ['http-interface', 'clients']) {
        await page.goto(`${origin}/docs/${manual}`);
        await check();
      }
    });

    /** Expects the buttons of a response below its text. */
    async function expectNothingCovered(page: Page): Promise<void> {
      const response = shownResponse(page, 'createPet').locator('.highlight-code').first();
      const body = await response.locator('pre').boundingBox();
      for (const button of ['.copy-to-clipboard', '.download-contents']) {
        const box = await response.locator(button).boundingBox();
        expect(box?.y).toBeGreaterThanOrEqual((body?.y ?? Number.NaN) + (body?.height ?? Number.NaN));
      }
    }

    /**
     * Goes through the page with the Tab key.
     *
     * @returns The kinds of elements that got the focus, each with an outline.
     */
    async function tabThrough(page: Page): Promise<Set<string>> {
      const reached = new Set<string>();
      for (let tab = 0; tab < 40; tab += 1) {
        await page.keyboard.press('Tab');
        const [tagName, element, outline] = (await page.evaluate(`(() => {
          const { tagName, outerHTML } = document.activeElement;
          const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement);
          return [tagName, outerHTML.slice(0, 200), outlineStyle + ' ' + outlineWidth];
        })()`)) as [string, string, string];
        if (tagName === 'BODY') break;
        reached.add(tagName);
        expect([element, outline]).toEqual([element, 'solid 3px']);
      }
      return reached;
    }

    test('shows which control has the focus of the keyboard', async () => {
      const { page } = await openPage();
      expect([...(await tabThrough(page))]).toEqual(expect.arrayContaining(['A', 'BUTTON', 'SELECT']));
      await tryOut(page, 'createPet');
      expect([...(await tabThrough(page))]).toEqual(expect.arrayContaining(['BUTTON', 'INPUT', 'SELECT', 'TEXTAREA']));
    });

    test('has a dialog that holds the focus, and gives it back', async () => {
      const { page } = await openPage();
      await openAuthorization(page);
      const dialog = page.getByRole('dialog', { name: 'Available authorizations' });
      const focused = () => page.evaluate('document.activeElement.outerHTML');
      const input = dialog.getByRole('textbox', { name: 'Value of the API key' });
      expect(await input.and(page.locator(':focus')).count()).toBe(1);
      for (let tab = 0; tab < 8; tab += 1) {
        await page.keyboard.press('Tab');
        // Behind the last control the browser's own have their turn, and the page has no focus.
        expect(
          await page.evaluate(`document.activeElement.closest('dialog, #swagger-ui, nav')?.tagName ?? 'NONE'`),
        ).toMatch(/^(?:DIALOG|NONE)$/);
      }
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
      expect(await focused()).toMatch(/^<button class="btn authorize/);
    });
  });

  test('keeps an operation in its address, leads to the manuals and back, and ignores a URL in the query', async () => {
    const { origin, page } = await openPage();
    await open(page, 'createPet');
    expect(page.url()).toMatch(/#\/Pets\/createPet$/);
    await page.reload();
    await operation(page, 'createPet').locator('button.try-out__btn').waitFor();

    await page.getByRole('link', { name: 'The interface in prose' }).click();
    await page.getByRole('heading', { name: 'The HTTP interface', level: 1 }).waitFor();
    await page.getByRole('navigation').getByRole('link', { name: 'Recipes for clients' }).click();
    await page.getByRole('heading', { name: 'Clients', level: 1 }).waitFor();
    await page.getByRole('link', { name: 'Operations' }).click();
    await operation(page, 'createPet').waitFor();
    expect(page.url()).toBe(`${origin}/docs`);

    await page.goto(`${origin}/docs?url=https://foreign.example/openapi.json&configUrl=https://foreign.example/x`);
    await operation(page, 'createPet').waitFor();
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
    await page.getByRole('link', { name: 'Recipes for clients' }).click();
    await page.getByRole('heading', { name: 'Clients', level: 1 }).waitFor();
    expect(requests.filter((url) => !url.startsWith('data:') && !url.includes('/shop/'))).toEqual([]);
  });

  test('warns if the browser rounds large integers', async () => {
    const { page } = await openPage({ prepare: (page) => page.addInitScript('delete JSON.rawJSON') });
    expect(await visibleText(page.locator('#notice'))).toContain('rounded');
    await tryOut(page, 'createPet');
  });

  test('works in a browser that forbids session storage', async () => {
    const { page } = await openPage({
      prepare: (page) =>
        page.addInitScript(
          `Object.defineProperty(window, 'sessionStorage', { get() { throw new DOMException('denied') } })`,
        ),
    });
    await authorize(page, KEY);
    await openAuthorization(page);
    expect(await page.getByLabel('Keep the key until this tab is closed').count()).toBe(0);
    await closeAuthorization(page);
    await tryOut(page, 'listPets');
    expect(await execute(page, 'listPets')).toMatchObject({ status: '200' });
  });
});
