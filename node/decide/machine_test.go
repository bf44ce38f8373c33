package decide

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/node/consensus"
	"github.com/quolldb/quoll/ring/change"
)

func TestAMachinePublishesWhatItMakes(t *testing.T) {
	var published []change.Document
	m := NewMachine(func(d change.Document) { published = append(published, d) })
	require.Nil(t, m.Document())
	require.Error(t, m.Restore(nil))
	first := formed(t, 3)
	require.NoError(t, m.Restore(first.Encode()))
	require.Equal(t, first.Digest(), m.Document().Digest())

	entry, err := encodeEntry(1234, change.Entry{By: "ann", Rate: &change.Rate{Bytes: 5}})
	require.NoError(t, err)
	result, err := m.Apply(7, entry)
	require.NoError(t, err)
	version, err := decodeOutcome(result)
	require.NoError(t, err)
	require.Equal(t, first.Version+1, version)
	require.EqualValues(t, 5, m.Document().Rate)
	require.EqualValues(t, 1234, m.Document().History[0].At, "the time is the entry's")

	result, err = m.Apply(8, entry)
	require.NoError(t, err, "what is refused is a result")
	_, err = decodeOutcome(result)
	require.ErrorIs(t, err, change.ErrNothing)
	require.Len(t, published, 2, "a restored one, and one that an entry made")

	again := NewMachine(func(change.Document) {})
	require.NoError(t, again.Restore(m.Snapshot()))
	require.Equal(t, published[1].Digest(), again.Document().Digest())
}

// TestWhatAMachineDoesNotKnowEndsIt: it would go another way than those who know it.
func TestWhatAMachineDoesNotKnowEndsIt(t *testing.T) {
	m := NewMachine(func(change.Document) {})
	known := []byte(`{"at":1,"entry":{"pause":{}}}`)
	_, err := m.Apply(1, known)
	require.ErrorIs(t, err, consensus.ErrUnknownEntry, "there is nothing yet that it could change")
	first := formed(t, 3)
	require.NoError(t, m.Restore(first.Encode()))
	for name, entry := range map[string]string{
		"an entry":         `{"at":1,"entry":{"merge":{}}}`,
		"a field":          `{"at":1,"entry":{"pause":{"long":true}}}`,
		"a field about it": `{"at":1,"entry":{"pause":{}},"unless":3}`,
		"no entry":         `{"at":1}`,
		"more":             `{"at":1,"entry":{"pause":{}}} {}`,
		"no JSON":          `pause`,
	} {
		t.Run(name, func(t *testing.T) {
			_, err := m.Apply(2, []byte(entry))
			require.ErrorIs(t, err, consensus.ErrUnknownEntry)
			require.ErrorContains(t, err, "upgrade this node")
			require.Equal(t, first.Digest(), m.Document().Digest())
		})
	}
	_, err = m.Apply(3, known)
	require.NoError(t, err)
	require.True(t, m.Document().Paused)
}
