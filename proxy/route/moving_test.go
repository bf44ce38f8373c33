package route

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/protocol/answer"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/ring"
)

// moving is a ring whose slots move while a proxy scans it. Each node has its own replicas, and its own idea of the ring, and answers as a real one does.
type moving struct {
	*fakeRing
	c      *Coordinator
	tables []*ring.Table                 // of all versions
	nodes  []*movingNode                 // by ID - 1
	all    map[string]protocol.ScanEntry // that are there all the time
}

type movingNode struct {
	table *ring.Table
	held  map[uint16]map[string]protocol.ScanEntry
}

func (m *moving) latest() *ring.Table { return m.tables[len(m.tables)-1] }

// changeSlot makes the next version of the ring.
func (m *moving) changeSlot(slot uint16, a ring.Assignment) {
	m.tables = append(m.tables, m.change(m.latest(), map[uint16]ring.Assignment{slot: a}))
}

// learn lets a node know a version, as node/replica does.
func (m *moving) learn(id uint16, table *ring.Table) {
	n := m.nodes[id-1]
	if table.Version() <= n.table.Version() {
		return
	}
	for slot, records := range n.held {
		joins := slices.Contains(table.Next(slot), id) && !slices.Contains(table.Replicas(slot), id)
		if joins && table.Epoch(slot) > n.table.Epoch(slot) {
			clear(records)
		}
	}
	n.table = table
	if l := m.c.ring.Load().node(id); l != nil {
		l.version.Store(max(l.version.Load(), table.Version()))
	}
}

// call answers as a node does: see node.scan.
func (m *moving) call(id uint16, method protocol.Method, payload []byte) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := m.nodes[id-1]
	if method != protocol.MethodScan {
		return nil, fmt.Errorf("unknown call %d", method)
	}
	r, err := protocol.DecodeScanRequest(payload)
	if err != nil || r.Version > n.table.Version() {
		return nil, cmp.Or(err, protocol.ErrChanged)
	}
	page := protocol.ScanPage{Next: protocol.EndPlace}
	for slot := r.From.Slot(); slot < ring.Slots && page.Next == protocol.EndPlace; slot++ {
		if n.table.Epoch(slot) > r.Version {
			if slot == r.From.Slot() {
				return nil, protocol.ErrChanged
			}
			page.Next = protocol.NewPlace(slot, 0)
			break
		}
		if !n.table.Contains(slot, id) {
			continue
		}
		var list []protocol.ScanEntry
		for _, e := range n.held[slot] {
			list = append(list, e)
		}
		slices.SortFunc(list, func(a, b protocol.ScanEntry) int { return cmp.Compare(a.Place, b.Place) })
		for _, e := range list {
			if e.Place < r.From {
				continue
			}
			if len(page.Entries) == r.Limit {
				page.Next = e.Place
				break
			}
			page.Entries = append(page.Entries, e)
		}
	}
	return protocol.AppendScanPage(nil, &page), nil
}

// read answers what a scan asks of a key in doubt: what is there is there all the time.
func (m *moving) read(r *request) {
	m.mu.Lock()
	known := m.nodes[r.node.id-1].table
	m.mu.Unlock()
	switch {
	case r.epoch > known.Version(), known.Epoch(r.Slot) > r.epoch:
		r.notDone(answer.EpochChanged, 0)
	case r.Kind == protocol.Execute && r.Req.Op == command.OpType:
		r.done("+string\r\n")
	default:
		r.askHome()
	}
}

// move is what happens to the ring at a moment.
type move struct {
	what     int
	slot     int // index in slots
	node     uint16
	next     []uint16
	versions int // before the latest
}

var moves = rapid.Custom(func(t *rapid.T) move {
	return move{rapid.IntRange(0, 5).Draw(t, "what"), rapid.IntRange(0, 5).Draw(t, "slot"), rapid.Uint16Range(1, 6).Draw(t, "node"),
		rapid.Permutation([]uint16{1, 2, 3, 4, 5, 6}).Draw(t, "next")[:3], rapid.IntRange(0, 2).Draw(t, "versions")}
})

// step moves something.
func (m *moving) step(x move, slots []uint16) {
	m.mu.Lock()
	defer m.mu.Unlock()
	slot := slots[x.slot]
	switch a := m.latest().Assignment(slot); x.what {
	case 0: // the slot begins to move, or ends, or gives up
		if a.Next == nil {
			if x.versions == 0 { // to all others
				x.next = slices.DeleteFunc([]uint16{1, 2, 3, 4, 5, 6}, func(id uint16) bool { return slices.Contains(a.Replicas, id) })
			}
			m.changeSlot(slot, ring.Assignment{Replicas: a.Replicas, Next: x.next})
			if x.versions < 2 {
				m.learnAll(x.next)
			}
			return
		}
		for _, id := range a.Next { // each that comes has collected it
			if n := m.nodes[id-1]; n.table.Epoch(slot) != a.Epoch {
				return
			} else if !slices.Contains(a.Replicas, id) {
				for _, e := range m.all {
					if e.Place.Slot() == slot {
						m.hold(id, e)
					}
				}
			}
		}
		m.changeSlot(slot, ring.Assignment{Replicas: a.Next})
		if x.versions == 0 {
			m.learnAll([]uint16{1, 2, 3, 4, 5, 6})
			for _, id := range a.Replicas {
				m.drop(id, slot)
			}
		}
	case 1:
		if a.Next != nil {
			m.changeSlot(slot, ring.Assignment{Replicas: a.Replicas})
		}
	case 2, 3:
		m.learn(x.node, m.tables[max(0, len(m.tables)-1-x.versions)])
	case 4:
		m.drop(x.node, slot)
	case 5:
		m.c.learn(m.cluster, m.latest())
	}
}

func (m *moving) learnAll(ids []uint16) {
	for _, id := range ids {
		m.learn(id, m.latest())
	}
}

// drop has a removed member drop what it held.
func (m *moving) drop(id, slot uint16) {
	if n := m.nodes[id-1]; !n.table.Contains(slot, id) {
		delete(n.held, slot)
	}
}

func (m *moving) hold(id uint16, e protocol.ScanEntry) {
	n := m.nodes[id-1]
	if n.held[e.Place.Slot()] == nil {
		n.held[e.Place.Slot()] = map[string]protocol.ScanEntry{}
	}
	n.held[e.Place.Slot()][string(e.Key)] = e
}

// settle lets all know the ring as it is.
func (m *moving) settle() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for id := range m.nodes {
		if m.nodes[id].table.Version() < m.latest().Version() {
			m.learn(uint16(id+1), m.latest())
		}
	}
	m.c.learn(m.cluster, m.latest())
}

// TestAScanFindsWhatIsThereWhileSlotsMove: each key that is there all the time, at least once, however slots move between pages and while a page is listed,
// and whoever has heard of it.
func TestAScanFindsWhatIsThereWhileSlotsMove(t *testing.T) {
	f := startRing(t, 6)
	c := f.coordinator(patient)
	m := &moving{fakeRing: f, c: c, tables: []*ring.Table{f.table}, all: map[string]protocol.ScanEntry{}}
	for range 6 {
		m.nodes = append(m.nodes, &movingNode{table: f.table, held: map[uint16]map[string]protocol.ScanEntry{}})
	}
	var slots []uint16
	for i := range 18 {
		key := fmt.Sprintf("{%d}%d", i%6, i)
		slot := slotOfKey(key)
		e := protocol.ScanEntry{Place: protocol.NewPlace(slot, uint64(i+1)<<20), Key: []byte(key), Version: record.Version{Seq: 1}, Type: record.String}
		m.all[key] = e
		slots = append(slots, slot)
		for _, id := range f.table.Replicas(slot)[:2] { // one has missed it
			m.hold(id, e)
		}
	}
	for _, n := range f.nodes {
		n.mu.Lock()
		n.answers = func(method protocol.Method, payload []byte) ([]byte, error) { return m.call(n.id, method, payload) }
		n.mu.Unlock()
	}
	f.play(m.read)
	rapid.Check(t, func(t *rapid.T) {
		m.settle()
		found := map[string]bool{}
		for at := Cursor(0); ; {
			stop := make(chan struct{})
			stopped := make(chan struct{})
			for _, x := range rapid.SliceOfN(moves, 0, 12).Draw(t, "before") {
				m.step(x, slots)
			}
			meanwhile := rapid.SliceOfN(moves, 0, 12).Draw(t, "meanwhile")
			go func() {
				defer close(stopped)
				for _, x := range meanwhile {
					m.step(x, slots)
				}
				m.settle()
				<-stop
			}()
			entries, next, err := c.Scan(context.Background(), 0, at, rapid.IntRange(1, 9).Draw(t, "count"))
			close(stop)
			<-stopped
			require.NoError(t, err)
			for _, e := range entries {
				require.Contains(t, m.all, string(e.Key))
				found[string(e.Key)] = true
			}
			if next == 0 {
				break
			}
			require.Greater(t, next, at)
			at = next
		}
		require.Len(t, found, len(m.all))
	})
}
