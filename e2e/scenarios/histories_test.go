//go:build linux

package scenarios

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/quolldb/quoll/internal/history"
)

// histories are recorded and checked in pieces, so that hours of load take no more memory than a minute.
// Each piece has keys of its own. The operations of the last ones stay in the artefacts.
type histories struct {
	dir     string
	stopped chan struct{}
	checks  sync.WaitGroup

	mu      sync.Mutex
	current *piece
	number  int
	results history.Result // of all pieces so far: the numbers
	wrong   error          // of the first piece that is
}

// piece is a part of the history.
type piece struct {
	number   int
	recorder *history.Recorder
	keys     *history.Keys
	clients  map[int]*history.Client
	open     sync.WaitGroup
}

const (
	// pieceTime is how long one piece goes on.
	pieceTime = 20 * time.Second
	// keptPieces are those whose operations are kept.
	keptPieces = 3
	// checkerTime is what the checker may take for one key.
	checkerTime = 20 * time.Second
)

func newHistories(dir string) *histories {
	h := &histories{dir: dir, stopped: make(chan struct{})}
	h.next()
	h.checks.Go(func() {
		tick := time.NewTicker(pieceTime)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				h.check(h.next())
			case <-h.stopped:
				return
			}
		}
	})
	return h
}

// next begins another piece and returns the last one.
func (h *histories) next() (last *piece) {
	h.mu.Lock()
	defer h.mu.Unlock()
	last = h.current
	h.number++
	h.current = &piece{number: h.number, recorder: history.NewRecorder(), keys: history.NewKeys(fmt.Sprint("piece", h.number)), clients: map[int]*history.Client{}}
	return last
}

// begin draws a command for a client and notes that it is
// about to be sent. end is called when its outcome is noted.
func (h *histories) begin(client int) (command history.Command, call history.Call, end func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	p := h.current
	p.open.Add(1)
	if p.clients[client] == nil {
		p.clients[client] = p.recorder.Client()
	}
	key, serial := p.keys.Next(1)
	command = history.Draw(key, serial, 0)
	return command, p.clients[client].Begin(command), p.open.Done
}

// decided notes that the outcome of a command on a key is known.
func (h *histories) decided(key string) {
	h.mu.Lock()
	p := h.current
	h.mu.Unlock()
	p.keys.Ended(key) // a key of an earlier piece is ignored
}

// note records an event.
func (h *histories) note(text string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.current.recorder.Note(text)
}

// check waits for what is under way in a piece and decides about it.
func (h *histories) check(p *piece) {
	p.open.Wait()
	result := p.recorder.Check(checkerTime)
	err := result.Err()
	folder := func(number int) string { return filepath.Join(h.dir, fmt.Sprintf("history-%d", number)) }
	saved := errors.Join(os.MkdirAll(folder(p.number), 0o755), p.recorder.Save(folder(p.number), result))
	h.mu.Lock()
	defer h.mu.Unlock()
	h.results.Keys += result.Keys
	h.results.Operations += result.Operations
	h.results.Unknown += result.Unknown
	if h.wrong == nil && err != nil {
		h.wrong = fmt.Errorf("%s: %w", folder(p.number), err)
	}
	if h.wrong == nil {
		h.wrong = errors.Join(saved, os.RemoveAll(folder(p.number-keptPieces)))
	}
}

// finish checks what is left. Nobody begins anything any more.
func (h *histories) finish() {
	close(h.stopped)
	h.checks.Wait()
	h.check(h.next())
}

// verdict is nil as long as every piece is linearizable.
func (h *histories) verdict() (history.Result, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.results, h.wrong
}
