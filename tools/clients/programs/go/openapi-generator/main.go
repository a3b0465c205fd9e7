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

func must[T any](value T, _ *http.Response, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

// The error of a call that has to fail.
func failed[T any](_ T, _ *http.Response, err error) animals.ApiError {
	return err.(*animals.GenericOpenAPIError).Model().(animals.ApiError)
}

func main() {
	configuration := animals.NewConfiguration()
	configuration.Servers[0].URL = os.Getenv("BASE_URL")
	pets := animals.NewAPIClient(configuration).PetsAPI
	with := func(key string) context.Context {
		return context.WithValue(context.Background(), animals.ContextAccessToken, key)
	}
	ctx := with(os.Getenv("API_KEY"))
	createRex := func(name string) (*animals.Pet, *http.Response, error) {
		rex := animals.NewPetToCreate(name, categoryID)
		rex.SetStatus(animals.AVAILABLE)
		return pets.CreatePet(ctx).PetToCreate(*rex).IdempotencyKey("first").Execute()
	}

	created := must(createRex("Rex"))
	repeated := must(createRex("Rex"))
	for count := int64(2); count <= 5; count++ {
		must(pets.CreatePet(ctx).PetToCreate(*animals.NewPetToCreate(fmt.Sprint("Pet ", count), -count)).Execute())
	}

	pages := [][]int64{}
	request := pets.ListPets(ctx).Limit(2)
	for {
		list, response, err := request.Execute()
		must(list, response, err)
		page := []int64{}
		for _, pet := range list {
			page = append(page, pet.Id)
		}
		pages = append(pages, page)
		match := next.FindStringSubmatch(response.Header.Get("Link"))
		if match == nil {
			break
		}
		link, err := url.Parse(match[1])
		must(link, nil, err)
		request = request.Cursor(link.Query().Get("cursor"))
	}

	errors := []string{}
	for _, failure := range []animals.ApiError{
		failed(pets.ListPets(ctx).Cursor("no cursor").Execute()),
		failed(pets.ListPets(with("not-a-key-of-anyone")).Execute()),
		failed(pets.GetPet(ctx, 999).Execute()),
		failed(createRex("Max")),
	} {
		errors = append(errors, fmt.Sprint(failure.Status, " ", failure.Code))
	}

	outcome, err := json.Marshal(map[string]any{"created": created, "repeated": repeated, "pages": pages, "errors": errors})
	must(outcome, nil, err)
	fmt.Println(string(outcome))
}
