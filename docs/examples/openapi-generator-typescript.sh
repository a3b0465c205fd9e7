# Needs the program that openapi-generator.sh downloads.
java -jar openapi-generator-cli.jar generate --input-spec openapi.json --output animals \
  --generator-name typescript-fetch --additional-properties importFileExtension=.js \
  --model-name-mappings Error=ApiError
