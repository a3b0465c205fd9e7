/**
 * The message for a person who started the service without keys.
 *
 * @param keeps How the storage keeps pets, as it completes "The pets are kept …".
 */
export function startupMessage({ url, key, keeps }: { url: string; key: string; keeps: string }): string {
  return `
Animal Store answers at ${url}

  API key, made for this run:  ${key}
  The animals are kept ${keeps}.

Add an animal:

  curl -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' \\
    -d '{"name":"Rex","categoryId":1,"status":"available"}' ${url}/pets

`;
}
