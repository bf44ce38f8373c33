package sim

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/record"
)

// TestWhatAQuorumHoldsIsBuiltOnWhatOneHeld: the simulator notices when it is not, though no client reads.
func TestWhatAQuorumHoldsIsBuiltOnWhatOneHeld(t *testing.T) {
	for _, c := range []struct {
		name  string
		base  record.Version
		blind bool
		wrong int
	}{
		{"on what was there before", u, false, 1},
		{"on it", v, false, 0},
		{"on nothing, and overwrites what is there", u, true, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScenario(t, 3)
			propose := func(version, base record.Version, value string, blind bool, members ...uint16) {
				m := write(version, value)
				m.Key, m.Base = []byte("b"), base
				s.proposed(&m, blind)
				s.tell(m, 1, members...)
			}
			propose(u, record.Version{}, "u", false, 1, 2, 3)
			propose(v, u, "u.v", false, 2, 3)
			propose(w, c.base, "w", c.blind, 1, 2)
			require.Len(t, s.violations, c.wrong)
		})
	}
}
