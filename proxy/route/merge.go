package route

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/protocol/answer"
	"github.com/quolldb/quoll/internal/record"
)

// listed is an entry of a node's page; node is its index in view.nodes.
type listed struct {
	protocol.ScanEntry
	node int
}

// candidate is what the replicas say about one key.
type candidate struct {
	protocol.ScanEntry
	nodes []int // that hold it, by index in view.nodes
	doubt bool  // some replica holds another version, or finds this one expired
	live  bool  // some replica holds a value
}

// merge puts the pages together, up to next.
func (c *Coordinator) merge(view *ringView, pages *everybody[protocol.ScanPage], next protocol.Place) ([]ScanEntry, error) {
	var all []listed
	for node, p := range pages.answers {
		if p == nil {
			continue
		}
		for _, e := range p.Entries {
			if e.Place < next && pages.votes(view, node, e.Place.Slot()) {
				all = append(all, listed{e, node})
			}
		}
	}
	slices.SortFunc(all, func(a, b listed) int {
		return cmp.Or(cmp.Compare(a.Place, b.Place), bytes.Compare(a.Key, b.Key), cmp.Compare(a.node, b.node))
	})
	var entries []ScanEntry
	var doubtful []protocol.ScanEntry
	var nodes []int
	for len(all) > 0 {
		k := candidate{ScanEntry: all[0].ScanEntry, nodes: append(nodes[:0], all[0].node), live: all[0].Type != record.None}
		n := 1
		for ; n < len(all) && bytes.Equal(all[n].Key, k.Key); n++ {
			k.doubt = k.doubt || all[n].Version != k.Version || all[n].Type != k.Type
			k.live = k.live || all[n].Type != record.None
			if all[n].node != all[n-1].node {
				k.nodes = append(k.nodes, all[n].node)
			}
		}
		all, nodes = all[n:], k.nodes
		switch {
		case !k.live:
		case k.doubt || !pages.most(view, k.Place.Slot(), func(node int) bool { return slices.Contains(k.nodes, node) }):
			doubtful = append(doubtful, k.ScanEntry)
		default:
			entries = append(entries, ScanEntry{Key: k.Key, Type: k.Type})
		}
	}
	return c.decide(entries, doubtful)
}

// decide appends those of the doubtful keys that a quorum read finds.
func (c *Coordinator) decide(entries []ScanEntry, doubtful []protocol.ScanEntry) ([]ScanEntry, error) {
	name := []byte("type")
	b := new(Batch)
	for _, e := range doubtful {
		b.Add(command.Request{Op: command.OpType, Args: [][]byte{name, e.Key}}, false)
	}
	c.Execute(b)
	for i := range b.Ops {
		op := &b.Ops[i]
		if op.Outcome != answer.Done {
			return nil, ErrTimeout
		}
		if typ := typeNamed(op.Reply); typ != record.None {
			entries = append(entries, ScanEntry{Key: doubtful[i].Key, Type: typ})
		}
	}
	return entries, nil
}

// typeNamed returns the type that a reply to TYPE names.
func typeNamed(reply []byte) record.Type {
	name := string(bytes.Trim(reply, "+\r\n"))
	typ := record.None
	for typ.String() != name && typ.String() != "unknown" {
		typ++
	}
	return typ
}
