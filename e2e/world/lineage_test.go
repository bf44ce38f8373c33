package world

import (
	"testing"

	"github.com/quolldb/quoll/internal/lineage"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/ring"
	"github.com/quolldb/quoll/ring/change"
)

func version(counter uint64) record.Version {
	return record.Version{Ballot: record.Ballot{Counter: counter, Incarnation: record.NewIncarnation(1, 1)}, Seq: 1}
}

// threeHolders is a cluster of three replicas, of which what they hold is told.
func threeHolders(t *testing.T) *replicas {
	t.Helper()
	initial := ring.Initial{{Name: "a", Peer: "10.0.0.1:1"}, {Name: "b", Peer: "10.0.0.2:1"}, {Name: "c", Peer: "10.0.0.3:1"}}
	cluster := initial.Cluster("w", 3)
	l := newReplicas()
	for i := range cluster.Members {
		cluster.Members[i].Generation = uint64(i + 1)
		l.holder(uint64(i + 1))
	}
	d, err := change.FromCluster(cluster)
	if err != nil {
		t.Fatal(err)
	}
	l.learned(d)
	return l
}

func (r *replicas) give(v record.Version, value string, durable bool, holders ...int) {
	for _, i := range holders {
		h := r.holders[uint64(i+1)]
		h.put(0, []byte("k"), record.Record{Version: v, State: record.State{Type: record.String, Value: []byte(value)}})
		if durable {
			h.committed(h.until())
		}
	}
}

// TestWhatAMajorityHoldsIsBuiltOnWhatOneHeld: the check notices when it is not, though no client reads.
func TestWhatAMajorityHoldsIsBuiltOnWhatOneHeld(t *testing.T) {
	u, v, w := version(1), version(2), version(3)
	for _, c := range []struct {
		name    string
		from    lineage.Origin
		durable bool
		wrong   bool
	}{
		{"on what was there before", lineage.Origin{Base: u}, true, true},
		{"on it", lineage.Origin{Base: v}, true, false},
		{"on nothing, and overwrites what is there", lineage.Origin{Base: u, Blind: true}, true, false},
		{"on what was there before, but is lost", lineage.Origin{Base: u}, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := threeHolders(t)
			at := lineage.Key{Slot: 0, Key: "k"}
			l.proposed(at, u, lineage.Origin{})
			l.give(u, "u", true, 0, 1, 2)
			l.proposed(at, v, lineage.Origin{Base: u})
			l.give(v, "u.v", true, 1, 2)
			l.proposed(at, w, c.from)
			l.give(w, "w", c.durable, 0, 1)
			if err := l.wrong(); (err != nil) != c.wrong {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestAVersionNamesOneState(t *testing.T) {
	l := threeHolders(t)
	l.give(version(1), "this", false, 0)
	l.give(version(1), "that", false, 1)
	if l.wrong() == nil {
		t.Error("it names two")
	}
}

func TestWhatACrashMayHaveTakenCountsForNothing(t *testing.T) {
	l := threeHolders(t)
	h := l.holders[1]
	h.put(0, []byte("k"), record.Record{Version: version(1)})
	until := h.until()
	h.end()
	h.put(0, []byte("k"), record.Record{Version: version(2)})
	h.begin()
	h.put(0, []byte("k"), record.Record{Version: version(3)})
	h.committed(until)
	if len(h.durable) > 0 {
		t.Errorf("%v", h.durable)
	}
}
