import type { Configuration } from './configuration.ts';

const KEPT = {
  memory: 'The animals are kept in memory: they are gone when the service stops.',
  mongodb: 'The animals are kept in MongoDB.',
  sqlite: 'The animals are kept in a SQLite file.',
} satisfies Record<Configuration['storage']['kind'], string>;

/** What someone who started the service without keys wants to know, in a few lines to read. */
export function startupMessage({
  url,
  key,
  storage,
}: {
  url: string;
  key: string;
  storage: keyof typeof KEPT;
}): string {
  return `
Animal Store answers at ${url}

  API key, made for this run:  ${key}
  ${KEPT[storage]}

Add an animal:

  curl -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' \\
    -d '{"name":"Rex","categoryId":1,"status":"available"}' ${url}/pets

`;
}
