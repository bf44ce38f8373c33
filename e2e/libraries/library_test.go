//go:build unix

package libraries

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// library is a client library with certain settings.
type library struct {
	// name is that of its row in docs/clients.md.
	name string
	// careful: its settings are those with which it should repeat no write by itself.
	careful bool
	// dial returns a client of a server. It skips the test if the library is not installed.
	dial func(t *testing.T, port string) client
}

// client is what is asked of each library. Errors are what the server answered, or what became of the connection.
type client interface {
	set(key, value string) error
	get(key string) (string, error)
	incr(key string) error
	// pipe increments in one pipeline, and tx in a transaction, MULTI and EXEC.
	pipe(keys ...string) error
	tx(keys ...string) error
	// scan counts the different keys that SCAN returns.
	scan(pattern string) (int, error)
}

var libraries = slices.Concat(goLibraries, scriptedLibraries)

// eachLibrary runs a test with each library that is installed.
func eachLibrary(t *testing.T, test func(t *testing.T, l library)) {
	for _, l := range libraries {
		t.Run(l.name, func(t *testing.T) { test(t, l) })
	}
}

// TestNamesAreDifferent: rows of the table are found by name.
func TestNamesAreDifferent(t *testing.T) {
	names := map[string]bool{}
	for _, l := range libraries {
		require.False(t, names[l.name], l.name)
		names[l.name] = true
	}
}

// numbered returns different keys.
func numbered(prefix string, n int) []string {
	keys := make([]string, n)
	for i := range keys {
		keys[i] = fmt.Sprint(prefix, i)
	}
	return keys
}
