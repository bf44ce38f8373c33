package change

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/ring"
)

func TestEntriesAreReadAsTheyWereWritten(t *testing.T) {
	for name, e := range map[string]Entry{
		"join":     {By: "n4", Join: &Join{ring.Member{Name: "n4", Peer: "h:1", Gossip: "h:2", Rack: "r", Weight: 2, Generation: 1<<63 + 1}}},
		"rejoin":   {By: "n1", Rejoin: &Rejoin{Name: "n1", Generation: 1<<64 - 1, Was: 3, Peer: "h:1"}},
		"forget":   {Forget: &Forget{Name: "n4"}},
		"stage":    {By: "ann", Stage: &Staged{Kind: ReplaceMember, Name: "n1", By: "n4"}},
		"unstage":  {Unstage: &Unstage{}},
		"commit":   {Commit: &Commit{ID: "x", Moves: []byte{1, 2, 255}}},
		"abort":    {Abort: &Abort{Plan: "x", Off: true}},
		"pause":    {Pause: &Pause{}},
		"rate":     {Rate: &Rate{Bytes: 1 << 40}},
		"begin":    {Begin: &Begin{Plan: "x", Slots: []uint16{1, 16383}}},
		"complete": {Complete: &Complete{Member: 3, Slots: []SlotEpoch{{1, 1<<64 - 1}}}},
		"place":    {By: "ann", Place: &Place{Database: 15, Together: true}},
		"close":    {Place: &Place{Close: true}},
		"accept":   {Accept: &AcceptLoss{Cluster: "zoo", Gone: []uint16{1}}},
		"set":      {Parameters: &Parameters{Seen: 7, Set: []Parameter{{"maxmemory", "5"}}}},
	} {
		t.Run(name, func(t *testing.T) {
			b, err := e.Encode()
			require.NoError(t, err)
			again, err := DecodeEntry(b)
			require.NoError(t, err, "%s", b)
			require.Equal(t, e, again)
		})
	}
}

// TestWhatThisVersionDoesNotKnow is never taken for something else: two versions would make different documents of it.
func TestWhatThisVersionDoesNotKnow(t *testing.T) {
	for name, b := range map[string]string{
		"a command":        `{"by":"n1","merge":{}}`,
		"one more":         `{"pause":{},"merge":{}}`,
		"a field":          `{"pause":{"until":5}}`,
		"a field in it":    `{"join":{"name":"n4","peer":"h:1","colour":"red"}}`,
		"a kind of change": `{"stage":{"kind":"drain","name":"n1"}}`,
		"no kind":          `{"stage":{"kind":"invalid","name":"n1"}}`,
		"two commands":     `{"pause":{},"rate":{"bytes":1}}`,
		"none":             `{}`,
		"another type":     `{"rate":{"bytes":"much"}}`,
		"a number":         `{"begin":{"plan":"x","slots":[70000]}}`,
		"two entries":      `{"pause":{}}{"pause":{}}`,
		"a long name":      `{"by":"` + strings.Repeat("x", ring.MaxName+1) + `","pause":{}}`,
		"nothing":          ``,
	} {
		t.Run(name, func(t *testing.T) {
			_, err := DecodeEntry([]byte(b))
			require.ErrorIs(t, err, ErrEntry)
			require.ErrorContains(t, err, "upgrade")
		})
	}
	_, err := Entry{Stage: &Staged{Kind: 77, Name: "n1"}}.Encode()
	require.ErrorIs(t, err, ErrEntry, "nobody proposes what it does not know itself")
	_, err = Entry{}.Encode()
	require.ErrorIs(t, err, ErrEntry)
}
