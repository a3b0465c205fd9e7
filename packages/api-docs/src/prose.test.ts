import { describe, expect, test } from 'vitest';
import { renderProse } from './prose.ts';

describe('renderProse', () => {
  test('makes a page with the title of the manual', async () => {
    const html = await renderProse('# Clients\n\nHow to call the service.\n');
    expect(html).toContain('<title>Clients · Animal Store</title>');
    expect(html).toContain('<p>How to call the service.</p>');
  });

  test.each([
    ['## Paths and methods', '<h2 id="paths-and-methods">Paths and methods</h2>'],
    ['### TypeScript: Hey API, with zod', '<h3 id="typescript-hey-api-with-zod">TypeScript: Hey API, with zod</h3>'],
    ['## The end of `getPet`', '<h2 id="the-end-of-getpet">The end of <code>getPet</code></h2>'],
  ])('gives the heading %j the id that GitHub gives it', async (markdown, html) => {
    expect(await renderProse(`# Title\n\n${markdown}\n`)).toContain(html);
  });

  test.each([
    ['[a](clients.md)', 'href="clients"'],
    ['[a](http-interface.md#pets)', 'href="http-interface#pets"'],
    ['[a](#pets)', 'href="#pets"'],
    ['[a](https://example.org/x.md)', 'href="https://example.org/x.md"'],
  ])('makes a link to a page of %j', async (markdown, link) => {
    expect(await renderProse(`# Title\n\n${markdown}\n`)).toContain(link);
  });
});
