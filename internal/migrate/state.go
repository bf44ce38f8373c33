package migrate

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/quolldb/quoll/internal/durable"
)

// ErrState is the error for a state file that does not belong to this copy.
var ErrState = errors.New("migrate: the state is of another copy")

// state is a position up to which everything is copied, and what became of the keys before it.
type state struct {
	From     string `json:"from"`
	To       string `json:"to"`
	Position string `json:"position"`
	Tally    Tally  `json:"tally"`
}

// stateFile is where it is kept, if it is.
type stateFile struct {
	path  string
	saved time.Time
}

// stateInterval is how often it is saved: what comes after the last time is copied once more.
const stateInterval = time.Second

// load reads the state; its Position is "" if there is none.
func (f *stateFile) load(from, to string) (s state, err error) {
	s = state{From: from, To: to}
	if f.path == "" {
		return s, nil
	}
	text, err := os.ReadFile(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	var was state
	if err == nil {
		err = json.Unmarshal(text, &was)
	}
	switch {
	case err != nil:
		return s, fmt.Errorf("the state cannot be read from %s: %w", f.path, err)
	case was.From != from || was.To != to:
		return s, fmt.Errorf("%w: %s is of a copy from %s to %s, and this one is from %s to %s. Remove it to begin from the beginning: what is there with the same value is left alone", ErrState, f.path, was.From, was.To, from, to)
	}
	return was, nil
}

// save writes the state, if it is due or must be.
func (f *stateFile) save(s state, must bool) error {
	if f.path == "" || !must && time.Since(f.saved) < stateInterval {
		return nil
	}
	f.saved = time.Now()
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	temporary := f.path + ".tmp"
	if err = os.WriteFile(temporary, append(text, '\n'), 0o600); err == nil {
		err = os.Rename(temporary, f.path)
	}
	if err == nil {
		err = durable.Sync(filepath.Dir(f.path))
	}
	if err != nil {
		return fmt.Errorf("the state cannot be kept: %w", err)
	}
	return nil
}

// remove removes it, when all is copied.
func (f *stateFile) remove() error {
	if f.path == "" {
		return nil
	}
	err := os.Remove(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
