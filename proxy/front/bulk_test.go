package front

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWhoReadsMuchPauses, if others are served meanwhile.
func TestWhoReadsMuchPauses(t *testing.T) {
	b := newBulkReads()
	b.turns <- struct{}{}
	r := &pacer{bulk: b}
	require.False(t, r.pause(), "nobody else is there")
	b.served.Add(1)
	require.True(t, r.pause())
	require.False(t, r.pause(), "nobody since then")
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
	for r := (&pacer{bulk: b}); ; r.pause() {
		select {
		case <-had:
			return
		default:
		}
	}
}
