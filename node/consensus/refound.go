package consensus

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"go.etcd.io/raft/v3"
	pb "go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"
)

// How a group that has lost a majority for ever is founded again: see the package's comment.

// Position is how far a log goes. Of two logs of a group the one with the later position has all that was decided and the other one has.
type Position struct{ Term, Index uint64 }

// Compare returns which of two positions is the later one, as cmp.Compare.
func (p Position) Compare(q Position) int {
	return cmp.Or(cmp.Compare(p.Term, q.Term), cmp.Compare(p.Index, q.Index))
}

// Replay has another machine, which knows nothing yet, execute all that is in this node's log: also what this node does not know to be decided, for whoever knew may
// be gone. It returns how far the log goes, the zero Position if there is nothing in it; the machine has been told nothing then. The group goes on as before.
func (g *Group) Replay(ctx context.Context, m Machine) (at Position, err error) {
	var failed error
	err = g.call(ctx, func() error {
		failed = recovered(func() (err error) {
			at, err = g.core.replay(m)
			return err
		})
		return nil
	})
	return at, cmp.Or(err, failed)
}

// Refounded is which group of the formation this is: Config.Refounded, or what the storage said if that was later.
func (g *Group) Refounded() uint64 { return g.core.refounded }

func (c *core) replay(m Machine) (Position, error) {
	last, err := c.disk.LastIndex()
	if err != nil || c.applied == 0 {
		return Position{}, err
	}
	term, err := c.disk.Term(last)
	if err != nil {
		return Position{}, err
	}
	at := Position{term, last}
	if err := m.Restore(c.cfg.Machine.Snapshot()); err != nil || last == c.applied {
		return at, err
	}
	entries, err := c.disk.Entries(c.applied+1, last+1, math.MaxUint64)
	if err != nil {
		return at, err
	}
	r := recent{maps.Clone(c.recent.outcomes), slices.Clone(c.recent.order)}
	for _, e := range entries {
		if e.GetType() != pb.EntryNormal || len(e.GetData()) == 0 { // who votes is decided anew
			continue
		}
		envelope, err := decodeEnvelope(e.GetData())
		if err == nil {
			_, err = execute(&r, m, e.GetIndex(), envelope)
		}
		if err != nil {
			return at, fmt.Errorf("the Raft group's entry %d: %w", e.GetIndex(), err)
		}
	}
	return at, nil
}

// beginAgain empties the storage of an earlier group, or begins with cfg.Initial, in one write.
func (c *core) beginAgain() error {
	c.refounded = c.cfg.Refounded
	c.disk = &log{MemoryStorage: raft.NewMemoryStorage(), refounded: c.refounded}
	if c.cfg.Initial != nil {
		c.founds = len(c.cfg.Initial.Voters) == 1
		return c.bootstrap()
	}
	if err := c.cfg.Storage.replace(c.stored(nil, nil, nil)); err != nil {
		return fmt.Errorf("%w: %w", ErrStorage, err)
	}
	return nil
}

// formation tells the group from all others.
func (c *core) formation() uint64 { return c.cfg.Formation + c.refounded }

// stored is what the storage takes, of this group.
func (c *core) stored(hard *pb.HardState, entries []*pb.Entry, snapshot *pb.Snapshot) *pb.Message {
	m := stored(c.cfg.ID, hard, entries, snapshot)
	if c.refounded != 0 {
		m.From = proto.Uint64(c.refounded)
	}
	return m
}
