//go:build unix

package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/e2e/outcome"
)

// counted is what a client knows of increments that it alone makes.
type counted struct{ acked, unknown int64 }

func (n *counted) note(how outcome.Outcome) {
	switch how {
	case outcome.Answered:
		n.acked++
	case outcome.Unknown:
		n.unknown++
	}
}

// require checks what the increments have come to.
func (n *counted) require(t testing.TB, value int64, what string) {
	t.Helper()
	require.GreaterOrEqual(t, value, n.acked, "%s lost acknowledged increments", what)
	require.LessOrEqual(t, value, n.acked+n.unknown, "%s was incremented too often", what)
}

// fields is a hash of which each client increments a field of its own.
func (l *load) fields() string { return l.name + ":fields" }

// field has a name so long that the hash becomes an object in memory. What changes in it travels as a delta.
func (c *loadClient) field() string { return fmt.Sprint(c.id, strings.Repeat("-", 1100)) }

func (c *loadClient) countField() {
	c.do([][]any{{"hincrby", c.load.fields(), c.field(), 1}}, func(_ int, _ string, how outcome.Outcome) { c.fields.note(how) })
}

// requireFields checks the fields of all clients, as one command shows them, and returns their sum.
func (l *load) requireFields(client *redis.Client) (sum int64) {
	l.t.Helper()
	fields := served(l.t, func() (map[string]string, error) { return client.HGetAll(l.t.Context(), l.fields()).Result() })
	for _, c := range l.clients {
		value := int64(0)
		if text, found := fields[c.field()]; found {
			_, err := fmt.Sscan(text, &value)
			require.NoError(l.t, err, "%s: %s", c.field(), text)
		}
		c.fields.require(l.t, value, c.field())
		sum += value
	}
	return sum
}
