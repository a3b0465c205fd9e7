import { find, read } from './repository.ts';

/** The documents by title, each with the first sentence of its text, as https://llmstxt.org has it. */
export function llmsTxt(): string {
  const [title, summary] = opening('README.md');
  const sections = {
    Documents: ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md', ...find('docs/*.md')],
    Packages: find('packages/*/README.md'),
    Optional: find('docs/decisions/*.md'),
  };
  const lists = Object.entries(sections).map(([name, paths]) => `## ${name}\n\n${paths.map(line).join('\n')}\n`);
  return `# ${title}\n\n> ${summary}\n\n${lists.join('\n')}`;
}

function line(path: string): string {
  const [title, sentence] = opening(path);
  return `- [${title}](${path})${sentence === '' ? '' : `: ${sentence}`}`;
}

/** The title of a document, and the first sentence of its first paragraph, if it begins with one. */
function opening(path: string): [title: string, sentence: string] {
  const [, title = '', text = ''] = /^# (.+)\n\n((?:[A-Z].*\n(?:[^\n#].*\n)*)?)/.exec(read(path)) ?? [];
  const plain = text.replaceAll('\n', ' ').replaceAll(/\[([^\]]+)\]\([^)]+\)/g, '$1');
  return [title, /^.*?[.:](?= |$)/.exec(plain.trim())?.[0].replace(/:$/, '.') ?? ''];
}
