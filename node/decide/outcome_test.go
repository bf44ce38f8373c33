package decide

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/node/consensus"
	"github.com/quolldb/quoll/ring/change"
)

// TestErrorsSurviveTheWire: whoever proposed knows which error it was, and reads all that was said.
func TestErrorsSurviveTheWire(t *testing.T) {
	for _, c := range slices.Concat(codes, groupCodes) {
		t.Run(c.word, func(t *testing.T) {
			_, err := Answered(Answer(0, fmt.Errorf("n2: %w, as seen", c.err)))
			require.ErrorIs(t, err, c.err)
			require.EqualError(t, err, "n2: "+c.err.Error()+", as seen")
			require.Equal(t, slices.Contains(codes, c), errors.Is(err, consensus.ErrRefused))
			for _, other := range slices.Concat(codes, groupCodes) {
				if other != c && other.word != "refused" {
					require.NotErrorIs(t, err, other.err)
				}
			}
		})
	}
	version, err := Answered(Answer(12, nil))
	require.NoError(t, err)
	require.EqualValues(t, 12, version)
	_, err = Answered(Answer(0, errOdd))
	require.ErrorIs(t, err, consensus.ErrRefused)
	require.EqualError(t, err, "odd")
	_, err = Answered([]byte(`{"code":"of a later version","text":"no"}`))
	require.ErrorIs(t, err, consensus.ErrRefused)
	require.EqualError(t, err, "no")
	_, err = Answered([]byte("x"))
	require.ErrorIs(t, err, consensus.ErrUnknown)
	require.Less(t, len(Answer(0, errors.New(strings.Repeat("ü", 1<<16)))), 2*maxText)
}

// TestEveryErrorHasItsCode: whoever adds an error to package change adds a line here.
func TestEveryErrorHasItsCode(t *testing.T) {
	words := map[string]bool{}
	for _, c := range slices.Concat(codes, groupCodes) {
		require.False(t, words[c.word], c.word)
		words[c.word] = true
	}
	f, err := parser.ParseFile(token.NewFileSet(), "../../ring/change/errors.go", nil, 0)
	require.NoError(t, err)
	n := 0
	ast.Inspect(f, func(node ast.Node) bool {
		if v, ok := node.(*ast.ValueSpec); ok {
			n += len(v.Names)
		}
		return true
	})
	of := 0
	for _, c := range codes {
		if c.word != "refused" && c.word != "encoding" {
			of++
		}
	}
	require.Equal(t, n, of, "ring/change/errors.go has errors without a code")
}

func TestProposeTellsWhatBecameOfIt(t *testing.T) {
	g := newGroup(t, formed(t, 3), func(change.Document) {})
	version, err := Propose(t.Context(), g, 1, change.Entry{Rate: &change.Rate{Bytes: 1}})
	require.NoError(t, err)
	require.Equal(t, g.machine.Document().Version, version)
	_, err = Propose(t.Context(), g, 1, change.Entry{Forget: &change.Forget{Name: "n9"}})
	require.ErrorIs(t, err, change.ErrUnknown)
	require.ErrorIs(t, err, consensus.ErrRefused)
	require.NotErrorIs(t, err, consensus.ErrUnknown, "that is another one")
	require.EqualError(t, err, `"n9": `+change.ErrUnknown.Error())
	g.setDown(true)
	_, err = Propose(t.Context(), g, 1, change.Entry{Pause: &change.Pause{}})
	require.ErrorIs(t, err, consensus.ErrNoLeader)
	before := len(g.entries)
	_, err = Propose(t.Context(), g, 1, change.Entry{Stage: &change.Staged{Kind: 99, Name: "n1"}})
	require.ErrorIs(t, err, change.ErrEntry)
	require.Len(t, g.entries, before, "what it does not know itself it does not propose")
}
