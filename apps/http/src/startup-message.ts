/** The message for a person who started the service without keys. */
export function startupMessage({ url, key, storage }: { url: string; key: string; storage: string }): string {
  return `
Animal Store listens at ${url}

  API key, made for this run:  ${key}
  Storage:                     ${storage}

Add an animal:

  curl -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' \\
    -d '{"name":"Rex","categoryId":1,"status":"available"}' ${url}/pets

`;
}
