interface Welcome {
  readonly url: string;
  /** The generated key; null if API_KEYS has others. */
  readonly key: string | null;
  readonly storage: string;
  readonly version: string;
}

/** The message for a person who started the service. */
export function welcome({ url, key, storage, version }: Welcome): string {
  return `
Animal Store ${version} listens at ${url}

  ${key === null ? 'API keys:                    those of API_KEYS' : `API key, made for this run:  ${key}`}
  Storage:                     ${storage}

Add an animal:

  curl -H "Authorization: Bearer ${key ?? '$API_KEY'}" -H 'Content-Type: application/json' \\
    -d '{"name":"Rex","categoryId":1,"status":"available"}' ${url}/pets

All requests, in a browser: ${new URL('/docs', url)}

`;
}
