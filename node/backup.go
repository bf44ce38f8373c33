package node

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/quolldb/quoll/internal/admin"
	"github.com/quolldb/quoll/internal/backup"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/replica"
)

// A Node can be backed up through its admin API.
var _ admin.BackupSource = (*Node)(nil)

// What is read of a slot while its lock is held, so that clients do not notice.
const (
	backupRecords = 256
	backupBytes   = 256 << 10
)

// backupBatch is how many bytes share one commit.
const backupBatch = 1 << 20

var (
	errBackupRuns = errors.New("another backup of this node is being made; wait for its end, or interrupt it")
	errClosing    = errors.New("the node is being stopped")
)

// Backup writes to w what this node holds, as package backup describes it. An error before the
// first byte is only returned; a later one is also in what was written, as far as that
// works. One backup of a node is made at a time.
//
// Nothing is written before it is durable here (R2). Records are read some hundred at
// a time, each time under the slot's lock, and memory is taken for one batch of them.
func (n *Node) Backup(ctx context.Context, w io.Writer) error {
	if !n.backups.TryLock() {
		return errBackupRuns
	}
	defer n.backups.Unlock()
	select {
	case <-n.life.Done():
		return errClosing
	default:
	}
	v := n.replicas.View()
	if v == nil || n.replicas.Failed() {
		_, reason := n.state()
		return fmt.Errorf("node %s cannot be backed up: it does not vote: %s", n.opt.Name, reason)
	}
	if moving := n.moving(v); moving > 0 {
		return fmt.Errorf("node %s cannot be backed up now: %d of its slots move, and nobody can say yet which nodes hold all of them; "+
			"wait until they have moved (quoll ring wait), or have no more begin to (quoll ring pause)", n.opt.Name, moving)
	}
	header, err := n.backupHeader(v)
	if err != nil {
		return err
	}
	out, err := backup.NewWriter(w, header)
	if err != nil {
		return err
	}
	b := backupRun{node: n, ctx: ctx, out: out}
	if err := b.run(v); err != nil {
		if !errors.Is(err, errWriteBackup) {
			_ = out.Fail(err.Error()) // should this fail too, the end is missing
		}
		return err
	}
	return out.Close()
}

// moving is how many of this node's slots are joint.
func (n *Node) moving(v *replica.View) (slots int) {
	for number := range v.Slots() {
		if v.Table.Next(number) != nil {
			slots++
		}
	}
	return slots
}

func (n *Node) backupHeader(v *replica.View) (backup.Header, error) {
	h := backup.Header{Cluster: v.Cluster, Placements: v.Placements, Node: n.opt.Name, Time: time.UnixMilli(n.now()).UTC(), Quoll: n.opt.Version}
	if doc := n.Document(); doc != nil {
		h.Formation = doc.Formation
	}
	for number := range v.Slots() {
		h.Slots.Add(number)
	}
	totals, err := n.engine.Totals()
	h.Records, h.Bytes = totals.Live+totals.Tombstones, totals.Bytes
	return h, err
}

// backupRun is a backup that is being made.
type backupRun struct {
	node  *Node
	ctx   context.Context
	out   *backup.Writer
	batch []backup.Chunk // read, and not written
	size  int
}

// errWriteBackup marks errors of the destination: nothing more can be told to it.
var errWriteBackup = errors.New("writing the backup")

func (b *backupRun) run(v *replica.View) error {
	for number := range v.Slots() {
		for from := engine.Position(0); from < engine.EndPosition; {
			next, err := b.read(v, number, from)
			if err == nil && b.size >= backupBatch {
				err = b.flush()
			}
			if err != nil {
				return err
			}
			from = next
		}
	}
	return b.flush()
}

// read reads some records of a slot, and its state, at one moment, and returns where
// to go on.
func (b *backupRun) read(v *replica.View, number uint16, from engine.Position) (next engine.Position, err error) {
	n := b.node
	chunk := backup.Chunk{Slot: number}
	size := 0
	st := n.replicas.Lock(number, nil)
	defer st.Unlock()
	if n.replicas.View().Table.Epoch(number) != v.Table.Epoch(number) {
		return next, fmt.Errorf("slot %d has begun to move to other nodes while the backup was made; wait until it has moved (quoll ring wait), and make another one", number)
	}
	enough := func() bool { return len(chunk.Records) >= backupRecords || size >= backupBytes }
	next, err = st.Scan(number, from, engine.EndPosition, enough, func(_ engine.Position, key []byte, rec record.Record) {
		size += len(key) + rec.State.Size()
		rec.State = rec.State.Keep()
		chunk.Records = append(chunk.Records, backup.Entry{Key: bytes.Clone(key), Record: rec})
	})
	if err == nil {
		chunk.Meta, err = n.engine.Slot(number)
	}
	if err != nil {
		return next, unreadable(number, err)
	}
	if chunk.Meta != (record.SlotMeta{}) || len(chunk.Records) > 0 {
		b.batch = append(b.batch, chunk)
		b.size += size + recordOverhead*(len(chunk.Records)+1)
	}
	return next, nil
}

func unreadable(slot uint16, err error) error {
	return fmt.Errorf("slot %d cannot be read: %w; back up another node that holds it", slot, err)
}

// recordOverhead is about what a record takes in memory besides key and value.
const recordOverhead = 100

// flush writes the batch as soon as what it shows is durable.
func (b *backupRun) flush() error {
	if err := b.node.committed(b.ctx); err != nil {
		return err
	}
	for i := range b.batch {
		if err := b.out.Write(&b.batch[i]); err != nil {
			return fmt.Errorf("%w: %w", errWriteBackup, err)
		}
	}
	clear(b.batch)
	b.batch, b.size = b.batch[:0], 0
	return nil
}
