# npm install --save-dev openapi-typescript@7.13.0
# npm install openapi-fetch@0.17.0
npx openapi-typescript openapi.json --output animals.d.ts
