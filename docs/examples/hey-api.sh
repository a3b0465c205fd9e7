# npm install --save-dev @hey-api/openapi-ts@0.99.0
# npm install zod@4.6.7
# Reads openapi-ts.config.js.
npx openapi-ts
