package replica

import (
	"bytes"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/register"
)

// unversioned is a command that asks for the version of its effect, and has just been executed. A home proposes an effect in the moment in which it has it: as the next of its messages.
type unversioned struct {
	req     *command.Request
	message int // in Ready.Messages
}

// awaitVersion notes that a command is about to get a version. That which writes nothing gets none, and one that finds a value that has expired, whose end is no effect of it; nor does a batch,
// whose writes may be those of others, too.
func (s *Stripe) awaitVersion(req *command.Request, effect *record.Effect) {
	if effect.Kind != record.Unchanged && !req.Expired {
		s.unversioned = append(s.unversioned, unversioned{req, len(s.round.ready.Messages)})
	}
}

// noteVersions notes which versions commands have got in the step that was made. What was proposed in another way than is expected has none.
func (s *Stripe) noteVersions() {
	for _, u := range s.unversioned {
		if messages := s.round.ready.Messages; u.message < len(messages) {
			if m := &messages[u.message]; m.Kind == register.Accept && bytes.Equal(m.Key, u.req.Args[1]) {
				u.req.Version = m.Version
			}
		}
	}
	clear(s.unversioned)
	s.unversioned = s.unversioned[:0]
}
