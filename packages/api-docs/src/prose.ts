import type { Tokens } from 'marked';

/**
 * A Markdown file of `docs/` as an HTML page. Its headings have the ids that GitHub gives them; its links to other files of
 * the folder lead to their pages.
 */
export async function renderProse(markdown: string): Promise<string> {
  // Loaded for the first page: it is not needed to start.
  const { Marked } = await import('marked');
  const marked = new Marked({
    walkTokens(token) {
      if (token.type === 'link') token['href'] = token['href'].replace(/^([\w-]+)\.md(?=#|$)/, '$1');
    },
    renderer: {
      heading({ tokens, depth, text }: Tokens.Heading) {
        return `<h${depth} id="${idOf(text)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
    },
  });
  const [, title] = /^# (.*)$/m.exec(markdown) as unknown as [string, string];
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${title} · Animal Store</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="docs.css">
  </head>
  <body>
    <nav>
      <a href="../docs">Operations</a>
      <a href="http-interface">The interface in prose</a>
      <a href="clients">Recipes for clients</a>
    </nav>
    <main class="manual">
${await marked.parse(markdown)}    </main>
  </body>
</html>
`;
}

/** The id of a heading, as GitHub makes it. */
function idOf(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');
}
