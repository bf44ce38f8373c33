package disk

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/datatype"
)

// score sets so many scores of members, some of which are there.
func (h *hashes) score(key string, members int) {
	args := []string{key}
	for range members {
		args = append(args, fmt.Sprint(h.random.IntN(1000)), fmt.Sprint("member", h.random.IntN(3000)))
	}
	h.run(command.OpZAdd, args...)
}

// lookRanked compares what a sorted set answers with what it should.
func (h *hashes) lookRanked(key string) {
	rec, _, err := h.engine.Get(partsSlot, []byte(key))
	require.NoError(h.t, err)
	member, rank := fmt.Sprint("member", h.random.IntN(3000)), fmt.Sprint(h.random.IntN(1500))
	for op, args := range map[command.Op][]string{
		command.OpZScore: {member}, command.OpZRank: {member}, command.OpZRange: {rank, rank}, command.OpZRevRange: {rank, rank}, command.OpZCount: {"100", rank},
	} {
		req := &command.Request{Op: op, Args: [][]byte{nil, []byte(key)}}
		for _, arg := range args {
			req.Args = append(req.Args, []byte(arg))
		}
		got, _ := datatype.Execute(nil, rec.State, req, 1)
		want, _ := datatype.Execute(nil, h.model[key].State, req, 1)
		require.Equal(h.t, string(want), string(got))
	}
}

// TestSortedSetsAtEveryWrite is TestACrashAtEveryWrite of objects that are two trees.
func TestSortedSetsAtEveryWrite(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp("", "parts")
		require.NoError(t, err)
		defer os.RemoveAll(dir)
		h := newHashes(t, dir, rapid.Uint64().Draw(t, "seed"))
		h.crowd(rapid.Bool().Draw(t, "crowded"))
		keys := rapid.SampledFrom([]string{"a", "b"})
		t.Repeat(map[string]func(*rapid.T){
			"fill": func(t *rapid.T) { h.score(keys.Draw(t, "key"), rapid.IntRange(1, 1500).Draw(t, "members")) },
			"few":  func(t *rapid.T) { h.score(keys.Draw(t, "key"), rapid.IntRange(1, 3).Draw(t, "members")) },
			"pop": func(t *rapid.T) {
				h.run(command.OpZPopMin, keys.Draw(t, "key"), fmt.Sprint(rapid.IntRange(1, 200).Draw(t, "count")))
			},
			"range": func(t *rapid.T) {
				low := rapid.IntRange(0, 1000).Draw(t, "low")
				h.run(command.OpZRemRangeByScore, keys.Draw(t, "key"), fmt.Sprint(low), fmt.Sprint(low+100))
			},
			"former": func(t *rapid.T) { h.putFormer(keys.Draw(t, "key")) },
			"del":    func(t *rapid.T) { h.run(command.OpDel, keys.Draw(t, "key")) },
			"flush":  func(*rapid.T) { h.flush() },
			"look":   func(t *rapid.T) { h.lookRanked(keys.Draw(t, "key")) },
			"evict":  func(*rapid.T) { h.evict() },
			"keep":   func(t *rapid.T) { h.keepFormer(keys.Draw(t, "key")) },
			"drop":   func(*rapid.T) { h.dropFormer() },
			"full":   func(t *rapid.T) { h.flushUntil(rapid.IntRange(0, 60).Draw(t, "writes")) },
			"crash": func(t *rapid.T) {
				before := h.store.writes()
				h.flush()
				h.crash(rapid.IntRange(before, h.store.writes()).Draw(t, "writes"))
			},
			"check": func(*rapid.T) { h.check() },
		})
		h.checkFormer()
		h.flush()
		h.dropFormer()
		h.sweep()
		h.close()
	})
}

// TestOneScoreReadsLittle: of a sorted set that is not in memory a query, or a change of one score reads what is on the way in both trees, and a change writes that.
func TestOneScoreReadsLittle(t *testing.T) {
	h := newHashes(t, t.TempDir(), 1)
	args := []string{"a"}
	for i := range 50_000 {
		args = append(args, fmt.Sprint(i*7919%50_000), fmt.Sprint("member", i))
	}
	h.run(command.OpZAdd, args...)
	require.NoError(t, h.engine.Flush())
	h.evict()
	read := func(op command.Op, args ...string) (reads int64) {
		before := h.store.reads.Load()
		rec, _, err := h.engine.Get(partsSlot, []byte("a"))
		require.NoError(t, err)
		req := &command.Request{Op: op, Args: [][]byte{nil, []byte("a")}}
		for _, arg := range args {
			req.Args = append(req.Args, []byte(arg))
		}
		reply, _ := datatype.Execute(nil, rec.State, req, 1)
		require.NotContains(t, string(reply), "-1", "%v", args)
		return h.store.reads.Load() - before
	}
	require.LessOrEqual(t, read(command.OpZScore, "member77"), int64(7))
	require.LessOrEqual(t, read(command.OpZRange, "25000", "25009"), int64(7))
	require.LessOrEqual(t, read(command.OpZRank, "member7777"), int64(40), "a search looks at the first element of other parts")
	writes := h.store.writes()
	h.run(command.OpZAdd, "a", "1234.5", "member4321")
	require.NoError(t, h.engine.Flush())
	require.LessOrEqual(t, h.store.writes()-writes, 25, "one score is written with few parts")
	h.check()
	h.close()
}

// TestATreeThatIsMissing is noticed: a sorted set whose part above names no two trees is none.
func TestATreeThatIsMissing(t *testing.T) {
	h := newHashes(t, t.TempDir(), 1)
	h.score("a", 1000)
	require.NoError(t, h.engine.Flush())
	rec, _, err := h.engine.Get(partsSlot, []byte("a"))
	require.NoError(t, err)
	root := *rec.State.Object.(record.Parted).Root().Stored()
	require.NotZero(t, root.Object, "the store has it")
	trees := rec.State.Object.(record.Parted).Root()
	from := madeUp{read: func(at record.Place) ([]byte, []record.Place) {
		return trees.AppendPart(nil), []record.Place{*trees.Part(0).Stored()}
	}}
	_, err = datatype.Assemble(record.SortedSet, root, from)
	require.Error(t, err)
	h.close()
}

// madeUp is a source of parts that are made up.
type madeUp struct {
	record.Source
	read func(at record.Place) ([]byte, []record.Place)
}

func (s madeUp) Read(at record.Place, decode func([]byte, []record.Place) error) error {
	content, below := s.read(at)
	return decode(content, below)
}
