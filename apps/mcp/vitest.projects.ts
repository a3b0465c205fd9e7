import type { ProjectOptions } from '../../vitest.config.ts';

export default [
  // The condition `source` leads to TypeScript in a package that the client needs, which Node does not strip there.
  { server: { deps: { inline: [/@modelcontextprotocol/, /eventsource/] } } },
] satisfies ProjectOptions[];
