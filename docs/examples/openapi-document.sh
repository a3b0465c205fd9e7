curl --fail --silent --show-error --output openapi.json "${BASE_URL%/v1}/openapi.json"
