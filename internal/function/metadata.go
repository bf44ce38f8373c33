package function

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/quolldb/quoll/internal/resp"
)

// Metadata reads the first line of a library's code, "#!lua name=mylib", and returns the library's name and the code that is to be compiled: it begins with the end of that line, so that
// errors name the right one. The problem is a reply, without its "-", that says what is wrong.
func Metadata(code []byte) (name string, body []byte, problem string) {
	engine, name, body, problem := firstLine(code)
	switch {
	case problem != "":
		return "", nil, "ERR " + problem
	case !ValidName(name):
		return "", nil, ErrName
	case !strings.EqualFold(engine, "lua"):
		return "", nil, "ERR Engine '" + engine + "' not found"
	}
	return name, body, ""
}

func firstLine(code []byte) (engine, name string, body []byte, problem string) {
	if !bytes.HasPrefix(code, []byte("#!")) {
		return "", "", nil, "Missing library metadata"
	}
	end := bytes.IndexAny(code, "\n\x00")
	if end < 0 || code[end] == 0 { // which ends a text of C
		return "", "", nil, "Invalid library metadata"
	}
	words, ok := resp.SplitWords(code[:end])
	if !ok || len(words) == 0 {
		return "", "", nil, "Invalid library metadata"
	}
	named := false
	for _, word := range words[1:] {
		const key = "name="
		switch {
		case len(word) < len(key) || !strings.EqualFold(string(word[:len(key)]), key):
			return "", "", nil, fmt.Sprintf("Invalid metadata value given: %s", word)
		case named:
			return "", "", nil, "Invalid metadata value, name argument was given multiple times"
		}
		name, named = string(word[len(key):]), true
	}
	if !named {
		return "", "", nil, "Library name was not given"
	}
	return string(words[0][2:]), name, code[end:], ""
}
