package front

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWhoReadsMuchRests, if others are served meanwhile.
func TestWhoReadsMuchRests(t *testing.T) {
	b := newBulkReads()
	b.turns <- struct{}{}
	r := &rests{bulk: b}
	require.False(t, r.rest(), "nobody else is there")
	b.served.Add(1)
	require.True(t, r.rest())
	require.False(t, r.rest(), "nobody since then")
}

// TestWhoReadsWithoutEndLetsOthersHaveTheTurn, who have waited for it.
func TestWhoReadsWithoutEndLetsOthersHaveTheTurn(t *testing.T) {
	b := newBulkReads()
	for range cap(b.turns) {
		b.turns <- struct{}{}
	}
	had := make(chan struct{})
	go func() {
		b.turns <- struct{}{}
		close(had)
		<-b.turns
	}()
	for r := (&rests{bulk: b}); ; r.rest() {
		select {
		case <-had:
			return
		default:
		}
	}
}
