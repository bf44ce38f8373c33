//go:build unix

package differential

import (
	_ "embed"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

//go:embed testdata/regressions.txt
var regressions string

// TestRegressions replays the scripts that once failed. Each begins with a line "# name:
// why", which is the name of its test.
func TestRegressions(t *testing.T) {
	s := startServers(t)
	for _, text := range strings.Split(regressions, "\n# ")[1:] {
		head, text, _ := strings.Cut(text, "\n")
		name, why, found := strings.Cut(head, ": ")
		require.True(t, found, "%q has no name and reason", head)
		t.Run(name, func(t *testing.T) {
			all, err := parseScript(text)
			require.NoError(t, err)
			require.NotEmpty(t, all)
			p := player{servers: s, judge: func(x exchange) error {
				err := judge(x)
				if errors.Is(err, errDiffers) {
					t.Errorf("%s\n%s", why, explain(x))
					return nil
				}
				return err
			}}
			require.NoError(t, p.playPatiently(all))
		})
	}
}
