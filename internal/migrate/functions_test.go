package migrate

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func library(name, reply string) string {
	return "#!lua name=" + name + "\nredis.register_function('" + name + "', function() return '" + reply + "' end)"
}

// TestFunctionsComeAlong from a server as from its file, once; what is there with other code is in the way.
func TestFunctionsComeAlong(t *testing.T) {
	from := startEnd(t)
	for _, name := range []string{"one", "two", "three"} {
		require.NoError(t, from.redis.FunctionLoad(t.Context(), library(name, "new")).Err())
	}
	require.NoError(t, from.redis.Set(t.Context(), "k", "v", 0).Err())
	for name, source := range map[string]func(to end) Options{
		"server": func(to end) Options { return from.options(t, to) },
		"file":   func(to end) Options { o := from.options(t, to); o.From = from.file(t, to.Longest()); return o },
	} {
		t.Run(name, func(t *testing.T) {
			to := startEnd(t)
			call := func(function string) any {
				return to.redis.FCall(t.Context(), function, nil).Val()
			}
			require.NoError(t, to.redis.FunctionLoad(t.Context(), library("two", "old")).Err())
			report, err := Run(t.Context(), source(to))
			require.NoError(t, err)
			require.Equal(t, Libraries{Copied: 2, LeftOut: 1}, report.Libraries)
			require.Equal(t, []Example{{"the library of functions two", "ERR Library 'two' already exists, with other code; --replace overwrites it"}}, report.Examples)
			require.Equal(t, []any{"new", "old", "new"}, []any{call("one"), call("two"), call("three")})

			opt := source(to)
			opt.Replace = true
			report, err = Run(t.Context(), opt)
			require.NoError(t, err)
			require.Equal(t, Libraries{Copied: 1, Same: 2}, report.Libraries)
			require.Empty(t, report.Examples)
			require.Equal(t, "new", call("two"))
		})
	}
}

func TestLibraryName(t *testing.T) {
	for code, want := range map[string]string{library("one", ""): "one", "#!lua  name=x  \n": "x", "#!lua\nname=y": `"#!lua"`} {
		require.Equal(t, want, libraryName(code))
	}
}
