//go:build unix

package differential

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/quolldb/quoll/internal/artifact"
)

// TestSameAsRedis compares random sequences. What fails is shrunk, printed and kept.
func TestSameAsRedis(t *testing.T) {
	s := startServers(t)
	kept := filepath.Join(artifact.Dir(t), "differs.txt")
	compared := 0
	rapid.Check(t, func(t *rapid.T) {
		g := &generator{t: t}
		all := g.script()
		var last exchange
		p := player{servers: s, judge: func(x exchange) error {
			compared++
			last = x
			return judge(x)
		}}
		err := p.playPatiently(all)
		if errors.Is(err, errDiffers) {
			text := explain(last) + "\n\n" + all[:p.played].String()
			t.Logf("replay: go test ./e2e/differential with the flags above, or put the script into testdata/regressions.txt\n%s", text)
			err = errors.Join(err, os.WriteFile(kept, []byte(text), 0o600))
		}
		if err != nil {
			t.Fatal(err)
		}
	})
	t.Logf("%d replies compared", compared)
}

var (
	errDiffers     = errors.New("Quoll does not answer what Redis answers")
	errUnavailable = errors.New("Quoll's nodes did not answer each other in time")
)

// judge decides whether an exchange is as it should be.
func judge(x exchange) error {
	if x.refused == "" && (x.redis == x.quoll || x.sameMeaning()) || allowed(x) != "" {
		return nil
	}
	for _, word := range []string{"CLUSTERDOWN", "TRYAGAIN", "NOTDONE", "UNKNOWN"} {
		if strings.HasPrefix(x.quoll, "-"+word+" ") {
			return errUnavailable
		}
	}
	if x.name() == "EXEC" && (x.quoll == "*-1\r\n" || x.quoll == "_\r\n") { // nodes that do not answer in time are followed by others, which write watched keys anew
		return errUnavailable
	}
	return errDiffers
}

// explain shows an exchange that differs.
func explain(x exchange) string {
	want := x.redis
	if x.refused != "" {
		want = x.refused
	}
	return fmt.Sprintf("%v\nRedis: %.2000q\nQuoll: %.2000q", x.step, want, x.quoll)
}
