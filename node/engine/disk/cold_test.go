package disk_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/datatype"
)

// BenchmarkColdField is HGET of one field of a hash of a million that is not in memory: what the slot is locked for.
func BenchmarkColdField(b *testing.B) {
	for _, k := range kinds {
		b.Run(k.name, func(b *testing.B) { benchmarkColdField(b, k) })
	}
}

func benchmarkColdField(b *testing.B, k kind) {
	const fields, value = 1_000_000, 72
	opt := calm(k.dir(b.TempDir()))
	opt.SegmentSize, opt.MemTable, opt.Cache = 0, 0, 0
	e, err := openHashes(k, opt)
	require.NoError(b, err)
	defer func() { require.NoError(b, e.Close()) }()
	key, st := []byte("k"), record.State{}
	for i := range fields {
		req := &command.Request{Op: command.OpHSet, Args: [][]byte{nil, key, fmt.Append(nil, "field:", i), fmt.Appendf(nil, "%*d", value, i)}}
		_, eff := datatype.Execute(nil, st, req, 1)
		st = eff.State
	}
	require.NoError(b, e.Put(3, key, record.Record{Version: record.Version{Seq: 1}, State: st}))
	require.NoError(b, e.WriteBack())
	random := rand.New(rand.NewPCG(1, 2))
	for b.Loop() {
		e.Evict(3)
		rec, _, err := e.Get(3, key)
		if err != nil {
			b.Fatal(err)
		}
		datatype.Execute(nil, rec.State, &command.Request{Op: command.OpHGet, Args: [][]byte{nil, key, fmt.Append(nil, "field:", random.IntN(fields))}}, 1)
	}
}
