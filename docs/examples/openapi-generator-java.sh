mvn dependency:copy -Dartifact=org.openapitools:openapi-generator-cli:7.25.0 \
  -DoutputDirectory=. -Dmdep.stripVersion=true
java -jar openapi-generator-cli.jar generate --input-spec openapi.json --output animals \
  --generator-name java --library native --additional-properties openApiNullable=false \
  --invoker-package org.example.animals --api-package org.example.animals --model-package org.example.animals \
  --model-name-mappings Error=ApiError
