package main

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestConnectionsLeaveFilesForTheRest(t *testing.T) {
	for _, test := range []struct{ asked, limit, want int }{
		{10000, 1 << 20, 10000}, {10000, 10128, 10000}, {10000, 10127, 9999}, {10000, 1024, 896}, {10000, 200, 100}, {50, 100, 50},
	} {
		var text strings.Builder
		require.Equal(t, test.want, fitFiles("max-clients", test.asked, keptFiles, test.limit, slog.New(slog.NewTextHandler(&text, nil))), test)
		if test.want == test.asked {
			require.Empty(t, text.String())
		} else {
			require.Contains(t, text.String(), "--max-clients is ")
			require.Contains(t, text.String(), "ulimit -n")
		}
	}
	require.Positive(t, openFiles())
}
