# npm install openapi-fetch
npx --yes --package openapi-typescript@7.13.0 --package typescript@5 \
  openapi-typescript openapi.json --output animals.d.ts
