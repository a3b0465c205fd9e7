curl --fail-with-body --silent --show-error "$BASE_URL/pets" \
  --header "Authorization: Bearer $API_KEY" --header 'Content-Type: application/json' \
  --data '{"name":"Rex","categoryId":9223372036854775807}' | jq .categoryId
