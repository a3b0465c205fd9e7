export default {
  input: 'openapi.json',
  output: 'animals',
  plugins: [
    // TypeScript has an `Error` of its own.
    { name: '@hey-api/typescript', definitions: { name: (name) => (name === 'Error' ? 'ApiError' : name) } },
    // Makes bigints of numbers that JSON.parse has rounded, unless the client has the functions of exact-fetch.ts.
    { name: '@hey-api/transformers', bigInt: true },
    { name: '@hey-api/sdk', transformer: true, validator: true },
    '@hey-api/client-fetch',
    'zod',
  ],
};
