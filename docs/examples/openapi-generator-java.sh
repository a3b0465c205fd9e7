# Needs the program that openapi-generator.sh downloads.
java -jar openapi-generator-cli.jar generate --input-spec openapi.json --output animals \
  --generator-name java --library native --additional-properties openApiNullable=false \
  --invoker-package org.example.animals --api-package org.example.animals --model-package org.example.animals \
  --model-name-mappings Error=ApiError
