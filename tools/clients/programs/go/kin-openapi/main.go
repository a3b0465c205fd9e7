// Checks requests and responses against the document, as gateways and test suites in Go do.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
)

var next = regexp.MustCompile(`<([^>]*)>; rel="next"`)

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

func main() {
	ctx := context.Background()
	base := must(url.Parse(os.Getenv("BASE_URL")))
	document := must(openapi3.NewLoader().LoadFromFile("openapi.json"))
	if err := document.Validate(ctx); err != nil {
		log.Fatal(err)
	}
	router := must(gorillamux.NewRouter(document))

	// Sends a request, and returns the response after both have been checked.
	send := func(method, reference, key, idempotencyKey, body string) (*http.Response, []byte) {
		target := base.ResolveReference(must(url.Parse(reference)))
		request := must(http.NewRequest(method, target.String(), strings.NewReader(body)))
		request.Header.Set("Authorization", "Bearer "+key)
		if body != "" {
			request.Header.Set("Content-Type", "application/json")
		}
		if idempotencyKey != "" {
			request.Header.Set("Idempotency-Key", idempotencyKey)
		}
		route, parameters, err := router.FindRoute(request)
		must[*routers.Route](route, err)
		input := &openapi3filter.RequestValidationInput{
			Request: request, PathParams: parameters, Route: route,
			Options: &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, IncludeResponseStatus: true},
		}
		if err := openapi3filter.ValidateRequest(ctx, input); err != nil {
			log.Fatal(err)
		}
		response := must(http.DefaultClient.Do(request))
		content := must(io.ReadAll(response.Body))
		err = openapi3filter.ValidateResponse(ctx, &openapi3filter.ResponseValidationInput{
			RequestValidationInput: input, Status: response.StatusCode, Header: response.Header,
			Body: io.NopCloser(bytes.NewReader(content)), Options: input.Options,
		})
		if err != nil {
			log.Fatal(err)
		}
		return response, content
	}

	key := os.Getenv("API_KEY")
	createRex := func(name string) []byte {
		body := fmt.Sprintf(`{"name":"%s","categoryId":9223372036854775807,"status":"available"}`, name)
		_, content := send("POST", "/v1/pets", key, "first", body)
		return content
	}
	created := json.RawMessage(createRex("Rex"))
	repeated := json.RawMessage(createRex("Rex"))
	for count := 2; count <= 5; count++ {
		send("POST", "/v1/pets", key, "", fmt.Sprintf(`{"name":"Pet %d","categoryId":%d}`, count, -count))
	}

	pages := [][]int64{}
	for reference := "/v1/pets?limit=2"; ; {
		response, content := send("GET", reference, key, "", "")
		var pets []struct{ Id int64 }
		if err := json.Unmarshal(content, &pets); err != nil {
			log.Fatal(err)
		}
		page := []int64{}
		for _, pet := range pets {
			page = append(page, pet.Id)
		}
		pages = append(pages, page)
		match := next.FindStringSubmatch(response.Header.Get("Link"))
		if match == nil {
			break
		}
		reference = match[1]
	}

	_, badCursor := send("GET", "/v1/pets?cursor=no+cursor", key, "", "")
	_, wrongKey := send("GET", "/v1/pets", "not-a-key-of-anyone", "", "")
	_, unknownID := send("GET", "/v1/pets/999", key, "", "")
	errors := []string{}
	for _, content := range [][]byte{badCursor, wrongKey, unknownID, createRex("Max")} {
		var failure struct {
			Status int
			Code   string
		}
		if err := json.Unmarshal(content, &failure); err != nil {
			log.Fatal(err)
		}
		errors = append(errors, fmt.Sprint(failure.Status, " ", failure.Code))
	}

	outcome := map[string]any{"created": created, "repeated": repeated, "pages": pages, "errors": errors}
	fmt.Println(string(must(json.Marshal(outcome))))
}
