package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/quolldb/quoll/internal/backup"
	"github.com/quolldb/quoll/internal/buffer"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/datatype"
	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/ring"
)

// A restored store begins a new life, in a ring that is yet to form. Two things of the
// former one have to be right. Every new term's ballot must be above those of the restored
// records, or an acknowledged write would look older than what it replaced: a home counts on
// from what its replica promised, so the promise is restored, and is never below a restored
// version. And all replicas have to begin with the same records and promises: one that knows a version
// which a majority never heard of would bring it back over newer writes.

// RestoreSource is a backup that is read from its beginning.
type RestoreSource struct {
	// Name is for messages.
	Name string
	*backup.Reader
}

// errOtherRing is returned for backups whose versions cannot be compared.
var errOtherRing = errors.New("they are not of the same life of one cluster, so that nobody can say which record is newer: restore from backups of one cluster that belong together")

// Restore fills an empty engine from one backup or several: of every key the newest version,
// of every slot the highest promise, floor and clear. It calls progress, which may be nil, after
// every chunk. An engine without room is given restorePatience to get some. When it has returned nil everything is committed; after an error
// the engine holds a part of it, and is to be thrown away.
func Restore(ctx context.Context, e engine.Engine, sources []RestoreSource, progress func()) error {
	r := restorer{ctx: ctx, engine: e}
	for i, source := range sources {
		if !sameRing(sources[0].Header(), source.Header()) {
			return fmt.Errorf("%s and %s: %w", sources[0].Name, source.Name, errOtherRing)
		}
		r.merging = i > 0
		source.Build = datatype.NewBuilder
		for {
			chunk, err := source.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return fmt.Errorf("%s: %w", source.Name, err)
			}
			if err := r.chunk(chunk); err != nil {
				return err
			}
			if progress != nil {
				progress()
			}
		}
	}
	return r.finish()
}

// sameRing reports whether versions of two backups can be compared: those of one ring, whatever its members were when each was made. Addresses may differ.
func sameRing(a, b *backup.Header) bool {
	if a.Formation != 0 && b.Formation != 0 {
		return a.Cluster.Name == b.Cluster.Name && a.Formation == b.Formation
	}
	if a.Cluster.Name != b.Cluster.Name || a.Cluster.Epoch != b.Cluster.Epoch || len(a.Cluster.Members) != len(b.Cluster.Members) {
		return false
	}
	for _, m := range a.Cluster.Members {
		if other, ok := b.Cluster.Member(m.ID); !ok || other.Name != m.Name || other.Generation != m.Generation {
			return false
		}
	}
	return true
}

// restorer writes what backups hold to an engine.
type restorer struct {
	ctx     context.Context
	engine  engine.Engine
	merging bool // there may be something newer already
	slots   ring.SlotSet
	metas   [ring.Slots]record.SlotMeta
	staged  int
}

// restoreBatch is how many bytes share one commit.
const restoreBatch = 4 << 20

func (r *restorer) chunk(c *backup.Chunk) error {
	meta := &r.metas[c.Slot]
	r.slots.Add(c.Slot)
	raise(meta, c.Meta.Promised)
	meta.Floor = record.Max(meta.Floor, c.Meta.Floor)
	meta.Cleared = record.Max(meta.Cleared, c.Meta.Cleared)
	for i := range c.Records {
		e := &c.Records[i]
		raise(meta, e.Version.Ballot)
		if err := r.put(c.Slot, e); err != nil {
			return err
		}
	}
	return r.flush(restoreBatch)
}

func raise(meta *record.SlotMeta, b record.Ballot) {
	if meta.Promised.Less(b) {
		meta.Promised = b
	}
}

func (r *restorer) put(slot uint16, e *backup.Entry) error {
	if r.merging {
		held, _, err := r.engine.Get(slot, e.Key)
		if err != nil || !held.Version.Less(e.Version) {
			return err
		}
	}
	rec := e.Record
	if len(rec.State.Value) > record.CopiedValue { // the engine shares it, and the archive's memory is used again
		rec.State.Value = buffer.Clone(rec.State.Value)
	}
	rec.State, _ = datatype.Live(rec.State)
	r.staged += len(e.Key) + rec.State.Size() + recordOverhead
	return r.engine.Put(slot, e.Key, rec)
}

// finish writes the states of the slots, and drops what their last clear has removed.
func (r *restorer) finish() error {
	for slot := range uint16(ring.Slots) {
		if !r.slots.Has(slot) {
			continue
		}
		meta := r.metas[slot]
		raise(&meta, meta.Floor.Ballot)
		raise(&meta, meta.Cleared.Ballot)
		write := r.engine.PutSlot
		if !meta.Cleared.IsZero() {
			write = r.engine.Clear
		}
		if err := write(slot, meta); err != nil {
			return err
		}
		r.staged += recordOverhead
		if err := r.flush(restoreBatch); err != nil {
			return err
		}
	}
	return r.flush(0)
}

// flush commits if that many bytes are staged, and waits. Then it looks whether there is
// room for as much again.
func (r *restorer) flush(least int) error {
	if err := r.ctx.Err(); err != nil {
		return context.Cause(r.ctx)
	}
	if r.staged < least {
		return nil
	}
	r.staged = 0
	committed := make(chan error, 1)
	r.engine.Commit(func(err error) { committed <- err })
	return errors.Join(<-committed, r.room())
}

// restorePatience is how long an engine may have no room: it may only be slower than the
// backup is read.
const restorePatience = 30 * time.Second

func (r *restorer) room() error {
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for began := time.Now(); ; {
		err := r.engine.Room()
		if !errors.Is(err, engine.ErrFull) || time.Since(began) > restorePatience {
			return err
		}
		select {
		case <-ticker.C:
		case <-r.ctx.Done():
			return context.Cause(r.ctx)
		}
	}
}
