package journal

import "errors"

// Close commits and syncs everything, leaves the proof that it was there, and waits for
// the journal's goroutines. ErrClosed the second time; any other error says that what
// was not durable before may be lost. It must not be called by a callback.
func (j *Journal) Close() error {
	j.mu.Lock()
	if j.closed {
		j.mu.Unlock()
		return ErrClosed
	}
	j.closed = true
	committed := make(chan error, 1)
	j.commit(func(err error) { committed <- err })
	err := <-committed

	j.mu.Lock()
	for j.writing {
		j.idle.Wait()
	}
	j.mu.Unlock()
	close(j.stop)
	j.goroutines.Wait()

	j.saving.Lock() // a checkpoint may be on its way
	defer j.saving.Unlock()
	defer j.release()
	if err == nil {
		err = j.syncWritten()
	}
	if err != nil {
		return err
	}
	// The checkpoint file says then that everything was durable. Without space there is
	// less proof, and nothing is lost.
	err = j.save(j.Checkpointed())
	if errors.Is(err, ErrFull) {
		j.opt.Logger.Warn("the journal is closed without a note of its end", "error", err)
		return nil
	}
	return err
}

// release closes the files.
func (j *Journal) release() {
	for _, list := range [][]*segment{j.live, j.ahead, j.spare} {
		for _, s := range list {
			s.file.Close()
		}
	}
}
