/** The message for a person who started the service without keys. */
export function welcome({
  url,
  key,
  storage,
  version,
}: Readonly<Record<'url' | 'key' | 'storage' | 'version', string>>) {
  return `
Animal Store ${version} listens at ${url}

  API key, made for this run:  ${key}
  Storage:                     ${storage}

Add an animal:

  curl -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' \\
    -d '{"name":"Rex","categoryId":1,"status":"available"}' ${url}/pets

All requests: ${new URL('/docs', url)}

`;
}
