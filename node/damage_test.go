package node

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/admin"
	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/datatype"
	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/engine/enginetest"
	"github.com/quolldb/quoll/node/engine/memory"
	"github.com/quolldb/quoll/node/register"
	"github.com/quolldb/quoll/ring"
)

// broken is an engine that reads no more, or not some slot.
type broken struct {
	*memory.Engine
	mu     sync.Mutex
	failed error
	only   func(slot uint16) bool // nil for all slots
}

func (b *broken) fail(err error, only func(uint16) bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.failed, b.only = err, only
}

func (b *broken) err(slot uint16) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.only != nil && !b.only(slot) {
		return nil
	}
	return b.failed
}

func (b *broken) Get(slot uint16, key []byte) (record.Record, bool, error) {
	if err := b.err(slot); err != nil {
		return record.Record{}, false, err
	}
	return b.Engine.Get(slot, key)
}

func (b *broken) Slot(slot uint16) (record.SlotMeta, error) {
	if err := b.err(slot); err != nil {
		return record.SlotMeta{}, err
	}
	return b.Engine.Slot(slot)
}

func (b *broken) Scan(slot uint16, from engine.Position, visit func(engine.Position, []byte, record.Record) bool) error {
	if err := b.err(slot); err != nil {
		return err
	}
	return b.Engine.Scan(slot, from, visit)
}

// errFlipped is what an engine says of damaged data.
var errFlipped = fmt.Errorf("table 7, block 3: %w", engine.ErrCorrupt)

func slotIs(key string) func(uint16) bool {
	return func(slot uint16) bool { return slot == ring.SlotOf([]byte(key)) }
}

// TestWhatCannotBeReadIsNeverAbsent: damaged data ends the vote of its slot, and of no
// other one.
func TestWhatCannotBeReadIsNeverAbsent(t *testing.T) {
	for name, step := range map[string]func(*client) []register.Reason{
		"read": func(cl *client) []register.Reason {
			return []register.Reason{cl.one(op(protocol.ReadValue, "get k")).Reason}
		},
		"home": func(cl *client) []register.Reason {
			return []register.Reason{cl.one(op(protocol.Execute, "get k")).Reason}
		},
		"opening": func(cl *client) []register.Reason {
			return []register.Reason{cl.one(op(protocol.Execute, "get other")).Reason}
		},
		"several at once": func(cl *client) (reasons []register.Reason) {
			for _, ch := range cl.send(op(protocol.Execute, "get k"), op(protocol.Execute, "append k v"), op(protocol.ReadVersion, "get k")) {
				reasons = append(reasons, cl.wait(ch).Reason)
			}
			return reasons
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := &broken{Engine: memory.New()}
			c := newFormed(t, 1, func(o *Options) { o.Engine = e })
			n, cl := c.nodes["a"], c.dial(c.nodes["a"])
			require.Equal(t, "+OK\r\n", string(cl.do("set k v").Reply))
			require.Equal(t, "+OK\r\n", string(cl.do("set healthy v").Reply))
			e.fail(errFlipped, func(slot uint16) bool { return slotIs("k")(slot) || slotIs("other")(slot) })
			for _, reason := range step(cl) {
				require.EqualValues(t, register.StorageFailed, reason)
			}
			e.fail(nil, nil) // it is not asked again
			damaged := "get k"
			if name == "opening" {
				damaged = "get other"
			}
			for _, kind := range []protocol.OpKind{protocol.Execute, protocol.ReadValue, protocol.ReadVersion} {
				require.EqualValues(t, register.StorageFailed, cl.one(op(kind, damaged)).Reason)
			}
			require.Equal(t, "$1\r\nv\r\n", string(cl.do("get healthy").Reply))
			require.Zero(t, n.replicas.InFlight())

			self := n.Self()
			require.Equal(t, []any{admin.Voting, 1}, []any{self.State, self.DamagedSlots})
			require.Contains(t, self.Damage, fmt.Sprintf("slot %d: ", ring.SlotOf([]byte(strings.Fields(damaged)[1]))))
			require.Equal(t, 1, n.State().FailedSlots)
			require.Equal(t, 1, c.logs.count("the data of a slot is damaged"))
		})
	}
}

func TestADamagedReplicaSaysNothing(t *testing.T) {
	e := &broken{Engine: memory.New()}
	c := newFormed(t, 3, func(o *Options) {
		if o.Name == "b" {
			o.Engine = e
		}
	})
	b := c.nodes["b"]
	key := c.keyOf(b)
	slot := ring.SlotOf([]byte(key))
	proxy := c.dial(b)
	require.Equal(t, "+OK\r\n", string(proxy.do("set "+key+" v").Reply))
	e.fail(errFlipped, slotIs(key))
	peer := c.dialAs(b, c.nodes["a"])
	for _, m := range []register.Message{{Kind: register.SyncRead, Change: record.Change{Key: []byte(key)}}, {Kind: register.Prepare}, {Kind: register.Confirm}} {
		m.Slot, m.Epoch, m.Ballot = slot, 1, record.Ballot{Counter: 9, Incarnation: record.NewIncarnation(1, 1)}
		peer.replicate(m)
	}
	c.eventually(func() bool { return b.Self().DamagedSlots == 1 })
	peer.barrier()
	require.Empty(t, peer.replies)
	require.Equal(t, admin.Voting, b.Self().State)
	require.EqualValues(t, register.StorageFailed, proxy.do("get "+key).Reason, "its home has ended, too")
	require.Equal(t, "$1\r\nv\r\n", string(c.dial(c.nodes["a"]).do("get "+key).Reply), "the two others go on")
}

// TestAHomeEndsWithItsReplica: what waits at the home of a damaged slot is answered.
func TestAHomeEndsWithItsReplica(t *testing.T) {
	t.Parallel()
	e, slow := &broken{Engine: memory.New()}, enginetest.Slow(memory.New())
	c := newFormed(t, 2, func(o *Options) {
		if o.Engine = slow; o.Name == "b" {
			o.Engine = e
		}
	})
	b := c.nodes["b"]
	key := c.keyOf(b)
	cl := c.dial(b)
	waits := cl.send(op(protocol.Execute, "set "+key+" v"))[0]
	awaitHeld(t, slow) // the promise of a: it does not answer
	e.fail(errFlipped, slotIs(key))
	require.EqualValues(t, register.StorageFailed, cl.one(op(protocol.ReadVersion, "get "+key)).Reason)
	r := cl.wait(waits)
	require.Equal(t, []any{protocol.StatusNotDone, register.StorageFailed}, []any{r.Status, r.Reason})
}

func TestScansEndBeforeADamagedSlot(t *testing.T) {
	e := &broken{Engine: memory.New()}
	c := newFormed(t, 1, func(o *Options) { o.Engine = e })
	n := c.nodes["a"]
	cl := c.dial(n)
	for i := range 30 {
		require.Equal(t, "+OK\r\n", string(cl.do(fmt.Sprintf("set %d v", i)).Reply))
	}
	scan := func(from protocol.Place) (protocol.ScanPage, error) {
		payload, err := cl.caller.Call(t.Context(), protocol.MethodScan, protocol.AppendScanRequest(nil, protocol.ScanRequest{Version: 1, From: from, Limit: 100}))
		if err != nil {
			return protocol.ScanPage{}, err
		}
		return protocol.DecodeScanPage(payload)
	}
	all, err := scan(0)
	require.NoError(t, err)
	require.Len(t, all.Entries, 30)
	damaged := all.Entries[10].Place.Slot()
	e.fail(errFlipped, func(slot uint16) bool { return slot == damaged })
	page, err := scan(0)
	require.NoError(t, err)
	require.Equal(t, all.Entries[:10], page.Entries)
	require.Equal(t, protocol.NewPlace(damaged, 0), page.Next)
	_, err = scan(page.Next)
	require.ErrorContains(t, err, "corrupt")
	rest, err := scan(protocol.NewPlace(damaged+1, 0))
	require.NoError(t, err)
	require.Equal(t, all.Entries[11:], rest.Entries)
	_, err = cl.caller.Call(t.Context(), protocol.MethodStats, protocol.AppendVersion(nil, 1))
	require.ErrorContains(t, err, "corrupt")
	require.Equal(t, 1, n.Self().DamagedSlots)
}

// TestAnErrorOfTheStoreEndsTheNode: whatever is not just damaged data.
func TestAnErrorOfTheStoreEndsTheNode(t *testing.T) {
	for name, touch := range map[string]func(*client){
		"read":   func(cl *client) { cl.send(op(protocol.ReadValue, "get k")) },
		"home":   func(cl *client) { cl.send(op(protocol.Execute, "get k")) },
		"opened": func(cl *client) { cl.send(op(protocol.Execute, "get other")) },
		"scan": func(cl *client) {
			_, _ = cl.caller.Call(cl.t.Context(), protocol.MethodScan, protocol.AppendScanRequest(nil, protocol.ScanRequest{Version: 1}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := &broken{Engine: memory.New()}
			c := newFormed(t, 1, func(o *Options) { o.Engine = e })
			cl := c.dial(c.nodes["a"])
			require.Equal(t, "+OK\r\n", string(cl.do("set k v").Reply))
			e.fail(errors.New("input/output error"), nil)
			touch(cl)
			cl.reconnected()
			require.EqualValues(t, register.NotVoting, cl.do("get k").Reason)
			require.ErrorContains(t, c.nodes["a"].Ready(t.Context()), "its store failed")
			require.Equal(t, admin.Failed, c.nodes["a"].Self().State)
			require.Zero(t, c.nodes["a"].Self().DamagedSlots)
		})
	}
}

// torn has a hash of which only what is above all its parts can be read.
type torn struct {
	*memory.Engine
	key    string
	object atomic.Pointer[record.Object] // nil: the key has what the engine has
}

func (e *torn) Get(slot uint16, key []byte) (record.Record, bool, error) {
	rec, found, err := e.Engine.Get(slot, key)
	if o := e.object.Load(); o != nil && string(key) == e.key {
		rec.State.Value, rec.State.Object = nil, *o
	}
	return rec, found, err
}

// shelf is a record.Source that has parts of an object, and loses some.
type shelf map[record.Place]shelved

type shelved struct {
	content []byte
	below   []record.Place
}

func (s shelf) keep(p record.Part) record.Place {
	var kept shelved
	for i := range p.Parts() {
		kept.below = append(kept.below, s.keep(p.Part(i)))
	}
	kept.content = p.AppendPart(nil)
	at := record.Place{Object: 1, Part: uint64(len(s) + 1)}
	s[at] = kept
	return at
}

func (s shelf) Read(at record.Place, decode func([]byte, []record.Place) error) error {
	kept, found := s[at]
	if !found {
		return errFlipped
	}
	return decode(kept.content, kept.below)
}

func (shelf) Whole(int) bool { return false }
func (shelf) Room(int) bool  { return false }
func (shelf) Kept(int)       {}

// tornHash returns a hash of which nothing but the root can be read.
func tornHash(t *testing.T) record.Object {
	req := &command.Request{Op: command.OpHSet, Args: [][]byte{nil, []byte("k")}}
	for i := range 2000 {
		req.Args = append(req.Args, fmt.Append(nil, "field", i), []byte("value"))
	}
	_, eff := datatype.Execute(nil, record.State{}, req, 1)
	s := shelf{}
	root := s.keep(eff.State.Object.(record.Parted).Root())
	object, err := datatype.Assemble(record.Hash, root, s)
	require.NoError(t, err)
	for at := range s {
		if at != root {
			delete(s, at)
		}
	}
	return object
}

// TestAPartThatCannotBeRead of an object is as a record that cannot be, when something needs it: nobody is told that a field is absent.
func TestAPartThatCannotBeRead(t *testing.T) {
	for _, kind := range []protocol.OpKind{protocol.Execute, protocol.ReadValue} {
		for _, words := range []string{"hget h field77", "hgetall h", "hset h field77 v", "hdel h field77"} {
			if kind == protocol.ReadValue && (strings.HasPrefix(words, "hset") || strings.HasPrefix(words, "hdel")) {
				continue
			}
			e := &torn{Engine: memory.New(), key: "h"}
			c := newFormed(t, 1, func(o *Options) { o.Engine = e })
			n, cl := c.nodes["a"], c.dial(c.nodes["a"])
			require.Equal(t, ":1\r\n", string(cl.do("hset h f v").Reply))
			require.Equal(t, "+OK\r\n", string(cl.do("set healthy v").Reply))
			object := tornHash(t)
			e.object.Store(&object)
			require.Equal(t, ":2000\r\n", string(cl.one(op(kind, "hlen h")).Reply), "what nobody needs is read")
			require.EqualValues(t, register.StorageFailed, cl.one(op(kind, words)).Reason, words)
			require.EqualValues(t, register.StorageFailed, cl.one(op(kind, "hlen h")).Reason)
			require.Equal(t, "$1\r\nv\r\n", string(cl.do("get healthy").Reply))
			require.Zero(t, n.replicas.InFlight())
			require.Equal(t, 1, n.Self().DamagedSlots)
			require.Equal(t, 1, c.logs.count("the data of a slot is damaged"))
		}
	}
}
