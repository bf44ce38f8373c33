package protocol

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/wire"
)

func FuzzDecodeInterest(f *testing.F) {
	f.Add(AppendInterest(nil, Interest{Kind: OfPattern, Clients: 3, Name: []byte("news.*")}))
	f.Add(AppendInterest(nil, Interest{Kind: InterestKinds, Clients: 3}))
	f.Fuzz(func(t *testing.T, body []byte) {
		d := wire.NewDecoder(body)
		i := DecodeInterest(&d)
		if d.Err() != nil {
			return
		}
		again := wire.NewDecoder(AppendInterest(nil, i))
		require.Equal(t, i, DecodeInterest(&again))
		require.NoError(t, again.Done())
	})
}

func FuzzDecodePublish(f *testing.F) {
	f.Add(AppendPublish(nil, 1<<60, &Message{Channel: []byte("news"), Payload: []byte("hello")}))
	f.Add(AppendPublish(nil, 0, &Message{Shard: true}))
	f.Fuzz(func(t *testing.T, body []byte) {
		d := wire.NewDecoder(body)
		var m, same Message
		id := DecodePublish(&d, &m)
		if d.Err() != nil {
			return
		}
		again := wire.NewDecoder(AppendPublish(nil, id, &m))
		require.Equal(t, id, DecodePublish(&again, &same))
		require.NoError(t, again.Done())
		require.Equal(t, m, same)
	})
}

func FuzzPubSubQuestion(f *testing.F) {
	f.Add((&PubSubQuestion{Query: QueryCounts, Shard: true, Names: [][]byte{[]byte("a"), {}}}).Append(nil))
	f.Add([]byte{0, 0, 255, 255, 255, 255, 15}) // names that are not there
	f.Fuzz(func(t *testing.T, payload []byte) {
		q, err := DecodePubSubQuestion(payload)
		require.LessOrEqual(t, cap(q.Names), len(payload), "no memory for what is only declared")
		if err != nil {
			return
		}
		same, err := DecodePubSubQuestion(q.Append(nil))
		require.NoError(t, err)
		require.Equal(t, q, same)
	})
}

func FuzzPubSubAnswer(f *testing.F) {
	f.Add((&PubSubAnswer{Names: [][]byte{[]byte("a"), {}}, Counts: []uint64{1, 1 << 63}}).Append(nil))
	f.Fuzz(func(t *testing.T, payload []byte) {
		a, err := DecodePubSubAnswer(payload)
		if err != nil {
			return
		}
		same, err := DecodePubSubAnswer(a.Append(nil))
		require.NoError(t, err)
		require.Equal(t, a, same)
	})
}
