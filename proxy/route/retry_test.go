package route

import (
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAWriteIsSentToOneHomeOnly: once a home may have it, nobody else gets it, though
// others would do it at once (R11).
func TestAWriteIsSentToOneHomeOnly(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]func(*request){
		"unknown":  (*request).unknown,
		"nonsense": (*request).askHome,
		"lost":     func(r *request) { go r.node.cut() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := startRing(t, 3)
			c := f.coordinator(patient)
			var sent atomic.Bool
			f.play(func(r *request) {
				if sent.Swap(true) {
					f.answer(r)
					return
				}
				first(r)
			})
			b := run(t, c, set("k", "v"))
			require.Equal(t, []string{unknownOutcome}, texts(b), "it was sent again")
			require.Len(t, f.seen(), 1)
		})
	}
}
