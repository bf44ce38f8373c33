package node

import (
	"bufio"
	"cmp"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/backup"
	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/wire"
	"github.com/quolldb/quoll/node/engine/memory"
	"github.com/quolldb/quoll/node/register"
	"github.com/quolldb/quoll/node/transfer"
	"github.com/quolldb/quoll/ring"
)

// large lets a node have hashes of any size.
func large(o *Options) { o.MaxCollection = 4 << 30 }

// grow gives a hash so many bytes in fields of 1000 random bytes, by commands that many other commands could be between. A field is named by its number.
func (c *testCluster) grow(name, key string, from, size int) {
	c.t.Helper()
	cl := c.dial(c.nodes[name])
	random := rand.New(rand.NewPCG(1, uint64(from)))
	const together, each = 200, 1000
	for first := from; first < from+size/each; first += together {
		o := protocol.Op{Kind: protocol.Execute, Slot: ring.SlotOf([]byte(key)), Except: protocol.AllOthers,
			Req: command.Request{Op: command.OpHSet, Args: [][]byte{[]byte("hset"), []byte(key)}}}
		for i := range together {
			value := make([]byte, each)
			for at := 0; at < each; at += 8 {
				value[at] = byte(random.Uint32())
			}
			o.Req.Args = append(o.Req.Args, fmt.Append(nil, "field-", first+i), value)
		}
		c.eventually(func() bool { return cl.one(o).Status == protocol.StatusDone })
	}
}

// packed returns what a node holds of a key.
func (c *testCluster) packed(name, key string) []byte {
	rec, _ := c.record(name, ring.SlotOf([]byte(key)), key)
	return rec.State.Packed().Value
}

// heap returns the bytes of what is alive on the heap, and of what could be.
func heap() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// allocated returns how many bytes of heap have been allocated so far. No collector frees any of these: what is allocated in the course of something, less what of it
// is kept, is the most by which the heap can be above what is kept, however late the garbage is collected.
func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// largeHash is the size of the hash of TestALargeHashIsRepairedInPieces.
var largeHash = flag.Int("large-hash", 0, "how many MiB the hash has that is repaired in TestALargeHashIsRepairedInPieces; 0 for a usual size")

// peak calls do, and returns how many bytes of heap there were at most while it ran, above those before.
func peak(do func()) (most int64) {
	defer debug.SetGCPercent(debug.SetGCPercent(5))
	runtime.GC()
	before := heap()
	stop, sampled := make(chan struct{}), make(chan uint64)
	go func() {
		highest := uint64(0)
		ticker := time.NewTicker(time.Millisecond)
		defer ticker.Stop()
		for {
			highest = max(highest, heap())
			select {
			case <-stop:
				sampled <- highest
				return
			case <-ticker.C:
			}
		}
	}()
	do()
	close(stop)
	return int64(<-sampled) - int64(before)
}

// TestALargeHashIsRepairedInPieces: a replica that missed all of it is given it by its home, in frames of bounded length, and takes no other memory for it than the hash; small
// commands go on meanwhile.
func TestALargeHashIsRepairedInPieces(t *testing.T) {
	size := 200 << 20
	if testing.Short() {
		size = 24 << 20
	}
	size = cmp.Or(*largeHash<<20, size)
	d := newDisks("a", "b", "c")
	change := func(o *Options) { d.use(o); noting(o); large(o) }
	c := newFormed(t, 3, change)
	key := c.keyOf(c.nodes["a"])
	c.set("a", "small", "v")
	c.eventually(c.converged)
	c.leave("c")
	c.grow("a", key, 0, size)
	rec, _ := c.record("a", ring.SlotOf([]byte(key)), key)
	length := int64(rec.State.Size())
	require.Greater(t, length, int64(size))

	var latencies []time.Duration
	runtime.GC()
	began, before, live := time.Now(), allocated(), heap()
	spent := uint64(0)
	pace := time.NewTicker(time.Millisecond) // what the test itself allocates is not what is measured
	defer pace.Stop()
	repaired := func() bool { // to compare digests would allocate as much as the hash has, in the long run
		want, _ := c.record("a", ring.SlotOf([]byte(key)), key)
		got, _ := c.record("c", ring.SlotOf([]byte(key)), key)
		return got.Version == want.Version
	}
	most := peak(func() {
		c.start("c", change)
		cl := c.dial(c.nodes["a"])
		late := time.After(time.Minute + time.Duration(size>>20)*time.Second/4)
		for ; !repaired(); spent = allocated() - before {
			<-pace.C
			asked := time.Now()
			for cl.do("set small w").Status == protocol.StatusNotDone { // as a proxy does
				select {
				case <-late:
					t.Fatal("a small SET is not executed")
				default:
				}
			}
			latencies = append(latencies, time.Since(asked))
			select {
			case <-late:
				t.Fatal("it is not repaired")
			default:
			}
		}
	})
	took := time.Since(began)
	runtime.GC()
	garbage := int64(spent) - int64(heap()-live)
	c.eventually(c.converged)
	slices.Sort(latencies)
	t.Logf("%d MiB repaired in %v; heap of three nodes and the test at most %d MiB above before, garbage in all %d MiB; %d SETs meanwhile, p50 %v, p99 %v, longest %v",
		length>>20, took, most>>20, garbage>>20, len(latencies), latencies[len(latencies)/2], latencies[len(latencies)*99/100], latencies[len(latencies)-1])
	require.Equal(t, c.packed("a", key), c.packed("c", key))
	require.Less(t, most, length*5/4+64<<20, "memory of its own size beside the hash")
	require.Less(t, garbage, int64(64<<20), "the collector comes late: so much can be there beside the hash")
	for _, n := range c.nodes {
		require.Zero(t, n.replicate.Incoming().Used())
		require.Zero(t, n.Metrics.ObjectsLost.Value())
	}
}

// TestALargeHashIsWrittenWhileItTravels: the deltas follow it, so that the replica has the newest state in the end, and does not ask for all of it again and again.
func TestALargeHashIsWrittenWhileItTravels(t *testing.T) {
	t.Parallel()
	d := newDisks("a", "b", "c")
	change := func(o *Options) { d.use(o); noting(o); large(o) }
	c := newFormed(t, 3, change)
	key := c.keyOf(c.nodes["a"])
	c.leave("c")
	c.grow("a", key, 0, 40*transfer.Ahead)
	c.start("c", change)
	for i := 0; !c.converged(); i++ {
		require.Less(t, i, 10_000)
		c.grow("a", key, i*1000, 200_000)
	}
	c.eventually(func() bool { return c.converged() && c.nodes["a"].peers.Of(3).Lane().Active() == 0 })
	require.Equal(t, c.packed("a", key), c.packed("c", key))
}

// TestALargeHashIsShownInPieces: a home that has not the newest state is shown it by a replica.
func TestALargeHashIsShownInPieces(t *testing.T) {
	t.Parallel()
	d := newDisks("a", "b", "c")
	c := newFormed(t, 3, func(o *Options) { d.use(o); large(o) })
	key := c.keyOf(c.nodes["a"])
	c.grow("a", key, 0, 2*transfer.Ahead)
	c.eventually(func() bool { return string(c.packed("a", key)) == string(c.packed("c", key)) })
	c.leave("c")
	c.grow("a", key, 10_000, 2*transfer.Ahead)
	want := c.packed("a", key)
	c.eventually(func() bool { return string(c.packed("b", key)) == string(want) })
	c.start("c", func(o *Options) { d.use(o); large(o) })
	c.connected()
	c.leave("a")
	c.grow("c", key, 0, 1000*200) // what is there already, by a home that has an old state
	c.eventually(func() bool { return string(c.packed("b", key)) == string(c.packed("c", key)) })
	rec, _ := c.record("c", ring.SlotOf([]byte(key)), key)
	require.Equal(t, record.Hash, rec.State.Type)
	require.Equal(t, want, c.packed("c", key))
}

// TestALargeHashIsRebuiltInPieces: a slot with large hashes that was damaged is copied from its other replicas.
func TestALargeHashIsRebuiltInPieces(t *testing.T) {
	t.Parallel()
	c, e := newRotting(t, 3, large)
	b := c.nodes["b"]
	slot := ring.SlotOf([]byte("{x}"))
	for _, key := range []string{"{x}1", "{x}2"} {
		c.grow("a", key, 0, 3*transfer.Ahead)
	}
	c.grow("a", "{x}3", 0, 1000*200) // which is shown in its page
	c.eventually(c.converged)
	want := map[string][]byte{}
	for _, key := range []string{"{x}1", "{x}2", "{x}3"} {
		want[key] = c.packed("a", key)
	}
	e.rot("{x}1")
	b.repairs.Recount(b.life, slot)
	c.eventually(func() bool { return b.Metrics.Rebuilt.Value() == 1 })
	for key, value := range want {
		require.Equal(t, value, c.packed("b", key))
	}
	require.Zero(t, b.replicate.Incoming().Used())
}

// TestALargeHashIsBackedUpInPieces, and restored: neither takes memory of its size beside it.
func TestALargeHashIsBackedUpInPieces(t *testing.T) { // beside nobody: it measures the heap
	c := newFormed(t, 1, large)
	const size = 40 << 20
	c.grow("a", "k", 0, size)
	file, err := os.Create(filepath.Join(t.TempDir(), "backup"))
	require.NoError(t, err)
	defer file.Close()
	most := peak(func() { require.NoError(t, c.nodes["a"].Backup(t.Context(), file)) })
	require.Less(t, most, int64(size/2))

	_, err = file.Seek(0, io.SeekStart)
	require.NoError(t, err)
	e := memory.New()
	defer e.Close()
	most = peak(func() {
		in, err := backup.NewReader(bufio.NewReader(file))
		require.NoError(t, err)
		require.NoError(t, Restore(t.Context(), e, []RestoreSource{{Name: "file", Reader: in}}, nil))
		require.EqualValues(t, 1, in.Counts().Live)
	})
	require.Less(t, most, int64(size+size/2))
	rec, found, err := e.Get(ring.SlotOf([]byte("k")), []byte("k"))
	require.NoError(t, err)
	require.True(t, found)
	require.NotNil(t, rec.State.Object)
	require.Equal(t, c.packed("a", "k"), rec.State.Packed().Value)
}

// piecesOf returns the frames in which an object goes ahead under a number.
func piecesOf(id uint64, state record.State) (frames [][]byte) {
	packed := state.Packed().Value
	for at := 0; at < len(packed); at += wire.StreamPiece {
		piece := protocol.Piece{ID: id, Type: state.Type, Size: len(packed), Offset: at}
		frame := protocol.AppendPieceHead(wire.BeginFrame(nil, protocol.FramePiece), &piece)
		frames = append(frames, wire.EndFrame(append(frame, packed[at:min(len(packed), at+wire.StreamPiece)]...), 0))
	}
	return frames
}

// TestAWriteWithoutItsObjectIsLost: of a write whose object did not come whole there is no trace, and no answer. With its object it is stored.
func TestAWriteWithoutItsObjectIsLost(t *testing.T) {
	c := newFormed(t, 3, large)
	c.grow("c", "source", 0, 2*transfer.Ahead)
	source, _ := c.record("c", ring.SlotOf([]byte("source")), "source")
	n := c.nodes["a"]
	peer := c.dialAs(n, c.nodes["b"])
	slot := ring.SlotOf([]byte("k"))
	ballot := record.Ballot{Counter: 1000, Incarnation: record.NewIncarnation(1, 2)}
	m := register.Message{Kind: register.Accept, Slot: slot, Change: record.Change{Key: []byte("k"), State: source.State}, Epoch: 1, Ballot: ballot,
		Version: record.Version{Ballot: ballot, Seq: 1}}
	send := func(id uint64, frames [][]byte) {
		for _, frame := range frames {
			require.NoError(t, peer.link.SendFrames(frame))
		}
		frame := protocol.AppendRequestAhead(wire.BeginFrame(nil, protocol.FrameReplicate), &m, id)
		require.NoError(t, peer.link.SendFrames(wire.EndFrame(frame, 0)))
	}
	pieces := piecesOf(1, source.State)
	send(1, pieces[:len(pieces)-1])
	peer.barrier()
	c.eventually(func() bool { return n.committed(t.Context()) == nil })
	rec, found := c.record("a", slot, "k")
	require.False(t, found, "it has an effect: %v", rec.Version)
	require.Empty(t, peer.replies, "it has an effect")
	require.EqualValues(t, 1, n.Metrics.ObjectsLost.Value())

	send(2, piecesOf(2, source.State))
	require.Equal(t, register.OK, received(t, peer.replies).Result)
	rec, _ = c.record("a", slot, "k")
	require.Equal(t, source.State.Packed().Value, rec.State.Packed().Value)
	require.Zero(t, n.replicate.Incoming().Used())
}

// TestAnAnswerWithoutItsObjectIsLost: it is no vote for a deletion.
func TestAnAnswerWithoutItsObjectIsLost(t *testing.T) {
	n := newFormed(t, 3, nil).nodes["a"]
	// The link's reader is another goroutine.
	p := n.replicate.Replies(n.peers.All()[0].ID(), n.peers.All()[0].Name())
	defer p.Flush()
	reply := register.Message{Kind: register.SyncRead, Reply: true, Slot: 1, Change: record.Change{Key: []byte("k")}, Present: true,
		Held: record.Version{Seq: 9}, Found: record.State{Type: record.Hash}}
	p.Frame(protocol.AppendReplyAhead(nil, &reply, 7))
	require.EqualValues(t, 1, n.Metrics.ObjectsLost.Value(), "it counts")
}
