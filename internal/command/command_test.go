package command

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLookup(t *testing.T) {
	for _, c := range All() {
		require.Same(t, c, Lookup([]byte(c.Name)), c.Name)
		require.Same(t, c, Lookup([]byte(strings.ToUpper(c.Name))), c.Name)
		require.Same(t, c, Lookup([]byte(strings.ToUpper(c.Name[:1])+c.Name[1:])), c.Name)
		require.Nil(t, Lookup([]byte(c.Name+"\x00")), c.Name)
		require.LessOrEqual(t, len(c.Name), maxName)
	}
	for _, name := range []string{"", "ge", "gett", "g\x05t", "BITFIELD\x7fRO", "client|id", "dumpstate", "sizestate", "objectstate", "clear", strings.Repeat("x", 1000)} {
		require.Nil(t, Lookup([]byte(name)), "%q", name)
	}
	require.Zero(t, testing.AllocsPerRun(100, func() { Lookup([]byte("INCRBYFLOAT")) }))
}

func TestByOp(t *testing.T) {
	for op := OpNone + 1; op <= OpReadWrite; op++ {
		c := ByOp(op)
		require.NotNil(t, c, "op %d", op)
		require.Equal(t, op, c.Op)
		require.NotEqual(t, RouteUnsupported, c.Route)
	}
	require.Nil(t, ByOp(OpNone))
	require.Nil(t, ByOp(1<<16-1))
}

func TestTableIsComplete(t *testing.T) {
	require.Len(t, All(), 241)
	require.True(t, slices.IsSortedFunc(All(), func(a, b *Command) int { return strings.Compare(a.Name, b.Name) }))
	for _, c := range All() {
		require.NotZero(t, c.Arity, c.Name)
		require.NotEmpty(t, c.Group, c.Name)
		require.Equal(t, c.Route != RouteUnsupported, slices.Contains(Supported(), c), c.Name)
		require.Equal(t, c.Route == RouteUnsupported, c.Op == OpNone, c.Name)
		if c.Route != RouteUnsupported {
			require.NotEmpty(t, c.Summary, c.Name)
		}
		switch first, last, _ := c.Positions(); c.Route {
		case RouteRead, RouteWrite:
			require.Equal(t, []int{1, 1}, []int{first, last}, c.Name)
			require.Equal(t, c.Route == RouteWrite, c.Flags&FlagWrite != 0, c.Name)
		case RouteSplit:
			require.Equal(t, []int{1, -1}, []int{first, last}, c.Name)
		case RouteSlot:
			require.NotEmpty(t, c.KeySpecs, c.Name)
			require.True(t, c.Writes() || c.Flags&FlagReadOnly != 0, c.Name)
		case RouteGather:
			require.NotEmpty(t, c.KeySpecs, c.Name)
			searched := c.KeySpecs[0].Counted || c.KeySpecs[0].Limit > 0
			require.Equal(t, searched, c.Flags&FlagMovableKeys != 0, c.Name)
			require.Equal(t, searched, first == 0, c.Name)
		case RouteProxy, RouteCluster:
			require.Equal(t, c.Op == OpWatch, first != 0 && c.OnKeys(), c.Name)
		}
	}
}

func TestArityOK(t *testing.T) {
	for _, test := range []struct {
		name string
		ok   []int
		bad  []int
	}{
		{"get", []int{2}, []int{1, 3}},
		{"set", []int{3, 4, 9}, []int{1, 2}},
		{"ping", []int{1, 2}, []int{0}},
		{"mget", []int{2, 3}, []int{1}},
		{"mset", []int{3, 5, 7}, []int{1, 2, 4, 6}},
		{"zadd", []int{4}, []int{3}},
	} {
		c := Lookup([]byte(test.name))
		for _, n := range test.ok {
			require.True(t, c.ArityOK(n), "%s %d", test.name, n)
		}
		for _, n := range test.bad {
			require.False(t, c.ArityOK(n), "%s %d", test.name, n)
		}
	}
}

func TestKeys(t *testing.T) {
	for _, test := range []struct {
		name string
		argc int
		want [3]int
	}{
		{"get", 2, [3]int{1, 1, 1}},
		{"mget", 5, [3]int{1, 4, 1}},
		{"mset", 5, [3]int{1, 3, 2}},
		{"copy", 4, [3]int{1, 2, 1}},
		{"lcs", 3, [3]int{1, 2, 1}},
		{"ping", 1, [3]int{}},
		{"msetnx", 5, [3]int{1, 3, 2}},
		{"rename", 3, [3]int{1, 2, 1}},
		{"bitop", 6, [3]int{2, 5, 1}},
		{"sunionstore", 4, [3]int{1, 3, 1}},
		{"zunionstore", 5, [3]int{1, 1, 1}},
	} {
		first, last, step := Lookup([]byte(test.name)).Keys(test.argc)
		require.Equal(t, test.want, [3]int{first, last, step}, test.name)
	}
}

func TestSubcommand(t *testing.T) {
	client := Lookup([]byte("client"))
	require.Equal(t, "client|setname", client.Subcommand([]byte("SetName")).Name)
	require.Equal(t, RouteProxy, client.Subcommand([]byte("id")).Route)
	require.Nil(t, client.Subcommand([]byte("nosuch")))
	require.Nil(t, client.Subcommand(nil))
	require.Nil(t, Lookup([]byte("get")).Subcommand([]byte("id")))
}

func TestFlagNames(t *testing.T) {
	require.Len(t, Flags(1<<16-1).Strings(), len(flagNames))
	require.Equal(t, FlagAllowBusy, Flags(1)<<(len(flagNames)-1))
	require.Equal(t, CatScripting, Categories(1)<<(len(categoryNames)-1))
	require.Equal(t, KeyVariable, KeyFlags(1)<<(len(keyFlagNames)-1))
	require.Equal(t, []string{"write", "fast"}, (FlagFast | FlagWrite).Strings())
	require.Nil(t, Flags(0).Strings())
}

func BenchmarkLookup(b *testing.B) {
	for _, name := range []string{"GET", "set", "INCRBYFLOAT", "nosuchcommand"} {
		key := []byte(name)
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				Lookup(key)
			}
		})
	}
}
