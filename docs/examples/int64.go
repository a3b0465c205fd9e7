package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
)

func main() {
	body := strings.NewReader(`{"name":"Rex","categoryId":9223372036854775807}`)
	request, err := http.NewRequest("POST", os.Getenv("BASE_URL")+"/pets", body)
	if err != nil {
		panic(err)
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("API_KEY"))
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		panic(err)
	}
	defer response.Body.Close()

	var pet struct {
		Id, CategoryId int64
		Name, Status   string
	}
	if err := json.NewDecoder(response.Body).Decode(&pet); err != nil {
		panic(err)
	}
	fmt.Println(pet.CategoryId)
}
