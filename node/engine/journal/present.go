package journal

import (
	"errors"
	"fmt"
	"os"
	"slices"
)

// Present reports whether the files that the journal writes to are still in its directory: an error that wraps ErrGone if not,
// or what ended the journal. Somebody who deletes or replaces them does not disturb writing, and all of it is lost when the
// process ends. It asks the file system about each segment in use.
func (j *Journal) Present() error {
	j.mu.Lock()
	live, err := slices.Clone(j.live), j.usableNow()
	j.mu.Unlock()
	if err != nil {
		return err
	}
	for _, s := range live {
		if j.fs.Holds(s.name(), s.file) || !j.uses(s) { // not meanwhile
			continue
		}
		return fmt.Errorf("%w: %s", ErrGone, s.name())
	}
	return nil
}

// uses reports whether a segment is in use: it may have become a spare one, which has another name.
func (j *Journal) uses(s *segment) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return !j.closed && slices.Contains(j.live, s)
}

// Holds reports whether a name stands for an open file.
func (d directory) Holds(name string, f File) bool {
	named, err := os.Stat(d.path(name))
	if err != nil {
		return !errors.Is(err, os.ErrNotExist)
	}
	open, err := f.(diskFile).Stat()
	return err != nil || os.SameFile(named, open)
}
