# Needs the program that openapi-generator.sh downloads.
java -jar openapi-generator-cli.jar generate --input-spec openapi.json --output animals \
  --generator-name go --package-name animals --additional-properties withGoMod=false \
  --model-name-mappings NewPet=PetToCreate,Error=ApiError
