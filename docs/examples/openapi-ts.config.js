// Leave out the option `bigInt`: it converts integers that JSON.parse has rounded, and sends them as strings, which the
// service rejects.
export default {
  input: 'openapi.json',
  output: 'animals',
  plugins: [
    // TypeScript has an `Error` of its own.
    { name: '@hey-api/typescript', definitions: { name: (name) => (name === 'Error' ? 'ApiError' : name) } },
    { name: '@hey-api/sdk', validator: true },
    '@hey-api/client-fetch',
    'zod',
  ],
};
