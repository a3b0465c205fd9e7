# npm install --save-dev openapi-typescript
# npm install openapi-fetch
npx openapi-typescript openapi.json --output animals.d.ts
