# In the folder of a Go module, which `go mod init` makes. Afterwards `go mod tidy` adds what the client needs.
mkdir -p animals
go run github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2 \
  -generate types,client -package animals -o animals/animals.gen.go openapi.json
