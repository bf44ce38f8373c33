package journal

import (
	"context"
	"fmt"
)

// Checkpoint says that the operations up to seq are durable elsewhere and need not be
// played back. It is durable when it returns, and what is not needed any more has been
// given back. If seq is not yet durable in the journal it is made so first: the journal is
// never behind what was built from it. It blocks for some fsyncs, and nobody else.
//
// ErrFull (wrapped) says that the checkpoint could not be saved for want of space, or of file
// descriptors, and is where it was; any other error is final.
func (j *Journal) Checkpoint(seq uint64) error {
	j.saving.Lock()
	defer j.saving.Unlock()
	j.mu.Lock()
	err := j.usableNow()
	j.mu.Unlock()
	if err != nil {
		return err
	}
	if last := j.Last(); seq > last {
		return fmt.Errorf("journal: a checkpoint at %d, after the last operation, which is %d", seq, last)
	}
	if seq <= j.Checkpointed() {
		return nil
	}
	if seq > j.Durable() {
		if err := j.Sync(context.Background()); err != nil {
			return err
		}
	}
	return j.save(seq)
}

// save writes the checkpoint file and retires the segments below. The caller has saving.
func (j *Journal) save(seq uint64) error {
	j.mu.Lock()
	n := 0
	for n+1 < len(j.live) && j.live[n].complete && j.live[n].last <= seq {
		n++
	}
	first := j.live[n]
	c := checkpoint{journal: j.id, first: first.number, base: first.base, seq: seq, durable: j.Durable()}
	j.mu.Unlock()

	if err := j.saveFile(c); shortage(err) {
		return fmt.Errorf("%w: the journal's checkpoint cannot be saved: %w", ErrFull, err)
	} else if err != nil {
		return j.fail("save the checkpoint", err)
	}
	j.checkpointed.Store(seq)

	j.mu.Lock()
	retired := j.live[:n]
	j.live = append([]*segment(nil), j.live[n:]...)
	j.mu.Unlock()
	for _, s := range retired {
		j.retire(s)
	}
	return nil
}

// saveFile replaces the checkpoint file.
func (j *Journal) saveFile(c checkpoint) error {
	j.taking.Lock()
	defer j.taking.Unlock()
	f, err := j.fs.Create(temporaryName)
	if err != nil {
		return err
	}
	err = writeDurably(f, c.encode())
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = j.fs.Rename(temporaryName, checkpointName)
	}
	if err != nil {
		_ = j.fs.Remove(temporaryName) // it does no harm
		return err
	}
	return j.fs.SyncDir()
}
