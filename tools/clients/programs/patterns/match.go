// Reads a pattern and texts, a line of code points each. Prints for each text in how many ways it matches.
package main

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
)

func main() {
	content, err := os.ReadFile("texts")
	if err != nil {
		panic(err)
	}
	var texts []string
	for _, line := range strings.Split(strings.TrimSpace(string(content)), "\n") {
		var text []rune
		for _, point := range strings.Fields(line) {
			number, err := strconv.Atoi(point)
			if err != nil {
				panic(err)
			}
			text = append(text, rune(number))
		}
		texts = append(texts, string(text))
	}
	pattern := regexp.MustCompile(texts[0])
	for _, text := range texts[1:] {
		if pattern.MatchString(text) {
			fmt.Print(1)
		} else {
			fmt.Print(0)
		}
	}
}
