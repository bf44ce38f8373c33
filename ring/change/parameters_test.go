package change

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParametersAreSet(t *testing.T) {
	d := first(t, 3, 3)
	plain := d.Encode()
	one := do(t, d, Entry{Parameters: &Parameters{Set: []Parameter{{"maxmemory-policy", "allkeys-lru"}, {"maxmemory", "100"}}}})
	require.Equal(t, []Parameter{{"maxmemory", "100"}, {"maxmemory-policy", "allkeys-lru"}}, one.Parameters)
	require.Equal(t, "sets maxmemory-policy to allkeys-lru, sets maxmemory to 100", one.History[0].What)
	require.Equal(t, "100", one.Parameter("maxmemory"))
	require.Empty(t, d.Parameter("maxmemory"))
	two := do(t, one, Entry{Parameters: &Parameters{Seen: 2, Set: []Parameter{{"maxmemory", "200"}, {"nobody-knows", "it"}}}})
	require.Equal(t, []Parameter{{"maxmemory", "200"}, {"maxmemory-policy", "allkeys-lru"}, {"nobody-knows", "it"}}, two.Parameters)
	back := do(t, two, Entry{Parameters: &Parameters{Seen: 3, Set: []Parameter{{"maxmemory", ""}, {"nobody-knows", ""}}}})
	require.Equal(t, []Parameter{{"maxmemory-policy", "allkeys-lru"}}, back.Parameters)
	require.Equal(t, "leaves maxmemory to the nodes, leaves nobody-knows to the nodes", back.History[2].What)
	none := do(t, back, Entry{Parameters: &Parameters{Seen: 4, Set: []Parameter{{"maxmemory-policy", ""}}}})
	paused := do(t, two, Entry{Pause: &Pause{}})
	users := do(t, two, Entry{Users: &Users{Set: []UserRules{set("bob", "on")}}}, Entry{Place: &Place{Database: 3, Close: true}})

	for _, next := range []Document{one, two, back, none, paused, users} {
		whole, err := Decode(next.Encode())
		require.NoError(t, err)
		require.Equal(t, len(next.Parameters), len(whole.Parameters))
		require.Equal(t, next.Digest(), whole.Digest())
		delta, err := d.Update(next.Since(d.Version))
		require.NoError(t, err)
		require.Equal(t, next.Digest(), delta.Digest())
	}
	later, err := two.Update(paused.Since(two.Version))
	require.NoError(t, err)
	require.Equal(t, two.Parameters, later.Parameters, "they travel when they change only")
	require.Equal(t, plain, d.Encode(), "a ring without is as rings were before")
}

func TestParametersAreBounded(t *testing.T) {
	d := do(t, first(t, 3, 3), Entry{Parameters: &Parameters{Set: []Parameter{{"a", "1"}}}})
	many := make([]Parameter, MaxParameters)
	for i := range many {
		many[i] = Parameter{fmt.Sprint("p", i), "1"}
	}
	for name, of := range map[string]struct {
		Parameters
		want error
	}{
		"stale":           {Parameters{Seen: 1, Set: []Parameter{{"a", "2"}}}, ErrParametersStale},
		"nothing is set":  {Parameters{Seen: 2}, ErrImpossible},
		"it is so":        {Parameters{Seen: 2, Set: []Parameter{{"a", "1"}}}, ErrNothing},
		"it is not there": {Parameters{Seen: 2, Set: []Parameter{{"b", ""}}}, ErrNothing},
		"no name":         {Parameters{Seen: 2, Set: []Parameter{{"", "1"}}}, ErrImpossible},
		"a long name":     {Parameters{Seen: 2, Set: []Parameter{{strings.Repeat("n", maxParameterName+1), "1"}}}, ErrImpossible},
		"a long value":    {Parameters{Seen: 2, Set: []Parameter{{"a", strings.Repeat("v", maxParameterValue+1)}}}, ErrImpossible},
		"too many":        {Parameters{Seen: 2, Set: many}, ErrImpossible},
	} {
		next, err := Apply(d, Entry{Parameters: &of.Parameters}, 1)
		require.ErrorIs(t, err, of.want, name)
		require.Equal(t, d.Version, next.Version, name)
	}
}
