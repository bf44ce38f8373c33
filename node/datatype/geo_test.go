package datatype

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/record"
)

// Redis would store what GEORADIUS finds: we do not, and say so after every fault that Redis finds.
func TestGeoRadiusStoresNothing(t *testing.T) {
	_, there, _ := execute(t, record.State{}, request("GEOADD", "k", "1", "1", "a"), testNow)
	none, text := record.State{}, str("x")
	for _, test := range []struct {
		st    record.State
		args  []string
		reply string
	}{
		{there, []string{"GEORADIUS", "k", "1", "1", "1", "M", "STORE", "l"}, "-" + errGeoStore},
		{there, []string{"georadiusbymember", "k", "a", "1", "km", "storedist", "k", "ASC"}, "-" + errGeoStore},
		{none, []string{"GEORADIUSBYMEMBER", "k", "a", "x", "x", "STORE", "l"}, "-" + errGeoStore},
		{none, []string{"GEORADIUS", "k", "1", "1", "1", "M", "STORE", "l", "WITHDIST"}, "-" + errGeoStoreWith},
		{none, []string{"GEORADIUS", "k", "1", "1", "1", "M", "STORE", "l", "COUNT", "0"}, "-" + errCount},
		{none, []string{"GEORADIUS", "k", "1", "1", "1", "M", "STORE", "l", "ANY"}, "-" + errAny},
		{none, []string{"GEORADIUS", "k", "1", "1", "1", "M", "STORE"}, "-" + errSyntax},
		{there, []string{"GEORADIUSBYMEMBER", "k", "b", "1", "M", "STORE", "l"}, "-" + errNoPosition},
		{text, []string{"GEORADIUS", "k", "1", "1", "1", "M", "STORE", "l"}, "-" + errWrongType},
		{there, []string{"GEORADIUS_RO", "k", "1", "1", "1", "M", "STORE", "l"}, "-" + errSyntax},
		{there, []string{"GEORADIUS", "k", "1", "1", "1", "M"}, "*1\r\n$1\r\na"},
		{there, []string{"GEORADIUSBYMEMBER", "k", "a", "1", "M"}, "*1\r\n$1\r\na"},
	} {
		reply, _, eff := execute(t, test.st, request(test.args...), testNow)
		require.Equal(t, test.reply+"\r\n", reply, test.args)
		require.Equal(t, noEffect, eff, test.args)
	}
}
