/** What someone who started the service without keys wants to know, in a few lines to read. */
export function announcement({ url, key }: { url: string; key: string }): string {
  return `
Animal Store answers at ${url}

  API key, made for this run:  ${key}
  The animals are kept in memory: they are gone when the service stops.

Add an animal:

  curl -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' \\
    -d '{"name":"Rex","categoryId":1,"status":"available"}' ${url}/pets

`;
}
