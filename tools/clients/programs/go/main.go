package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"net/url"
	"os"
	"regexp"

	"example.org/program/animals"
)

const categoryID = 9223372036854775807

var next = regexp.MustCompile(`<([^>]*)>; rel="next"`)

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

func clientWith(key string) *animals.ClientWithResponses {
	authorize := func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+key)
		return nil
	}
	return must(animals.NewClientWithResponses(os.Getenv("BASE_URL"), animals.WithRequestEditorFn(authorize)))
}

func main() {
	ctx := context.Background()
	client := clientWith(os.Getenv("API_KEY"))
	createRex := func(name string) *animals.CreatePetResponse {
		key, status := "first", animals.Available
		body := animals.NewPet{Name: name, CategoryId: categoryID, Status: &status}
		return must(client.CreatePetWithResponse(ctx, &animals.CreatePetParams{IdempotencyKey: &key}, body))
	}

	created := createRex("Rex").JSON201
	repeated := createRex("Rex").JSON201
	for count := int64(2); count <= 5; count++ {
		body := animals.NewPet{Name: fmt.Sprint("Pet ", count), CategoryId: -count}
		must(client.CreatePetWithResponse(ctx, &animals.CreatePetParams{}, body))
	}

	limit := 2
	params := &animals.ListPetsParams{Limit: &limit}
	pages := [][]int64{}
	for {
		response := must(client.ListPetsWithResponse(ctx, params))
		page := []int64{}
		for _, pet := range *response.JSON200 {
			page = append(page, pet.Id)
		}
		pages = append(pages, page)
		if response.Headers200.Link == nil {
			break
		}
		link := must(url.Parse(next.FindStringSubmatch(*response.Headers200.Link)[1]))
		cursor := link.Query().Get("cursor")
		params.Cursor = &cursor
	}

	bad := "no cursor"
	errors := []string{}
	for _, failure := range []*animals.Error{
		must(client.ListPetsWithResponse(ctx, &animals.ListPetsParams{Cursor: &bad})).JSON400,
		must(clientWith("not-a-key-of-anyone").ListPetsWithResponse(ctx, nil)).JSON401,
		must(client.GetPetWithResponse(ctx, 999)).JSON404,
		createRex("Max").JSON422,
	} {
		errors = append(errors, fmt.Sprint(failure.Status, " ", failure.Code))
	}

	outcome := map[string]any{"created": created, "repeated": repeated, "pages": pages, "errors": errors}
	fmt.Println(string(must(json.Marshal(outcome))))
}
