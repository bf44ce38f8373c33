package command

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWhatStoresNothingIsARead: of the commands that may store, with the same arguments.
func TestWhatStoresNothingIsARead(t *testing.T) {
	for text, want := range map[string]Op{
		"SORT k":                                     OpSortRO,
		"sort k BY nosort GET # LIMIT 0 5 DESC":      OpSortRO,
		"SORT k STORE d":                             OpNone,
		"SORT k LIMIT 0 5 store d":                   OpNone,
		"SORT k BY store":                            OpNone, // in doubt
		"GEORADIUS k 15 37 200 km WITHDIST":          OpGeoRadiusRO,
		"GEORADIUS k 15 37 200 km StoreDist d":       OpNone,
		"GEORADIUSBYMEMBER k m 200 km COUNT 3 ANY":   OpGeoRadiusByMemberRO,
		"GEORADIUSBYMEMBER k m 200 km COUNT 3 STORE": OpNone,
		"SORT_RO k":                                  OpNone,
		"SET k v":                                    OpNone,
	} {
		args := bytes.Fields([]byte(text))
		op, ok := Lookup(args[0]).ReadingOp(args)
		require.Equal(t, want, op, text)
		require.Equal(t, want != OpNone, ok, text)
		if ok {
			require.Equal(t, RouteRead, ByOp(op).Route, text)
		}
	}
}
