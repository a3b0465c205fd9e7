# pip install --requirement requirements.txt
openapi-python-client generate --path openapi.json --meta none --output-path animals
