package replica

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/register"
)

// TestOnlyOneCommandsVersionsAreSaid: the version of a command is that which the home proposes next, if it is of its key. What ends a value that has expired is not the command's.
func TestOnlyOneCommandsVersionsAreSaid(t *testing.T) {
	version := record.Version{Ballot: record.Ballot{Counter: 1, Incarnation: 2}, Seq: 3}
	for name, test := range map[string]struct {
		effect  record.EffectKind
		expired bool
		message register.Message
		said    bool
	}{
		"a write":         {effect: record.Replaced, message: register.Message{Kind: register.Accept, Change: record.Change{Key: []byte("k")}}, said: true},
		"no effect":       {effect: record.Unchanged, message: register.Message{Kind: register.Accept, Change: record.Change{Key: []byte("k")}}},
		"an expired one":  {effect: record.Replaced, expired: true, message: register.Message{Kind: register.Accept, Change: record.Change{Key: []byte("k")}}},
		"another key":     {effect: record.Replaced, message: register.Message{Kind: register.Accept, Change: record.Change{Key: []byte("l")}}},
		"another message": {effect: record.Replaced, message: register.Message{Kind: register.SyncRead, Change: record.Change{Key: []byte("k")}}},
	} {
		s := &Stripe{round: new(Round)}
		s.round.ready.Messages = make([]register.Outgoing, 1) // of before
		req := &command.Request{Args: [][]byte{nil, []byte("k")}, Versioned: true, Expired: test.expired}
		s.awaitVersion(req, &record.Effect{Kind: test.effect})
		s.noteVersions() // nothing was proposed
		require.True(t, req.Version.IsZero(), name)
		s.awaitVersion(req, &record.Effect{Kind: test.effect})
		test.message.Version = version
		s.round.ready.Messages = append(s.round.ready.Messages, register.Outgoing{Message: test.message})
		s.noteVersions()
		require.Equal(t, test.said, req.Version == version, name)
		require.Empty(t, s.unversioned, name)
	}
}
