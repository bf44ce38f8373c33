//go:build linux

package scenarios

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/quolldb/quoll/e2e/compose"
)

// watch looks at the invariants of a cluster all the time, however broken it is:
//
//   - the epoch that a process knows never goes back, nor does a node's generation change;
//   - the version of a key that a replica holds, what it has promised for its slot, and its floor never go back;
//   - a version is one state: whoever holds a key in that version, ever, holds the same.
type watch struct {
	*scenario
	stopped chan struct{}
	running sync.WaitGroup

	looking sync.Mutex // one look after the other: what is seen later was so later

	mu          sync.Mutex
	epochs      map[string]uint64             // by process
	generations map[string]string             // by node
	versions    map[string]version            // by node and key: the last one
	states      map[string]map[version]string // by key and version
	looks       int
	wrong       error
}

// version is that of a record: counter, member and sequence.
type version [3]uint64

// before reports whether a version is certainly older than another. Of ballots with the same counter the incarnations
// decide, of which the member is only a part.
func (v version) before(other version) bool {
	if v[0] != other[0] {
		return v[0] < other[0]
	}
	return v[1] == other[1] && v[2] < other[2]
}

// watchEvery is the pause between two looks, watchedKeys of each client's keys are looked at.
const watchEvery, watchedKeys = 500 * time.Millisecond, 2

func startWatching(s *scenario) *watch {
	w := &watch{scenario: s, stopped: make(chan struct{}), epochs: map[string]uint64{}, generations: map[string]string{},
		versions: map[string]version{}, states: map[string]map[version]string{}}
	w.running.Go(func() {
		tick := time.NewTicker(watchEvery)
		defer tick.Stop()
		for i := 0; ; i++ {
			select {
			case <-tick.C:
				w.look(i)
			case <-w.stopped:
				return
			}
		}
	})
	s.t.Cleanup(func() {
		close(w.stopped)
		w.running.Wait()
	})
	return w
}

// look asks every process once. Who does not answer is not judged.
func (w *watch) look(i int) {
	c := w.load.clients[i%len(w.load.clients)]
	for _, s := range w.Services() {
		if status, err := s.Status(); err == nil {
			w.judgeStatus(s, status)
		}
		if s.Node {
			w.lookAt(s, c.ownName(i%watchedKeys))
		}
	}
}

// lookAt asks a process about a key.
func (w *watch) lookAt(s *compose.Service, key string) {
	w.looking.Lock()
	defer w.looking.Unlock()
	if holdings, err := s.Locate(key); err == nil {
		w.judge(key, holdings)
	}
}

// compareAll looks at all keys that single clients write. The cluster is healthy.
func (w *watch) compareAll() {
	for _, c := range w.load.clients {
		for i := range c.own {
			w.lookAt(w.Proxies[0], c.ownName(i))
		}
	}
}

func (w *watch) judgeStatus(s *compose.Service, status compose.Status) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.looks++
	if !status.Formed {
		return // it has just been started
	}
	if status.Epoch < w.epochs[s.Name] {
		w.violated("%s knows epoch %d and knew %d", s.Name, status.Epoch, w.epochs[s.Name])
	}
	w.epochs[s.Name] = status.Epoch
	for _, n := range status.Nodes {
		if old := w.generations[n.Name]; n.Generation != "" && old != "" && old != n.Generation {
			w.violated("%s says that node %s has the generation %s, and it had %s", s.Name, n.Name, n.Generation, old)
		}
		if n.Generation != "" {
			w.generations[n.Name] = n.Generation
		}
	}
}

func (w *watch) judge(key string, holdings []compose.Holding) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, h := range holdings {
		if h.Error != "" {
			continue
		}
		w.forward(h.Node, "the promise for "+key, parseVersion(h.Promised))
		w.forward(h.Node, "the floor for "+key, parseVersion(h.Floor))
		if !h.Present {
			continue
		}
		w.looks++
		v := parseVersion(h.Version)
		state := fmt.Sprintf("%s of %d bytes, tombstone %v, expires %v, digest %s", h.Type, h.Size, h.Tombstone, h.ExpireAt, h.Digest)
		if w.states[key] == nil || len(w.states[key]) > maxVersions {
			w.states[key] = map[version]string{}
		}
		if other, ok := w.states[key][v]; ok && other != state {
			w.violated("%s has two states in version %s: %s; %s on %s", key, h.Version, other, state, h.Node)
		}
		w.states[key][v] = state
		w.forward(h.Node, key, v)
	}
}

// forward notes the version of something that a node holds, which must not go back.
func (w *watch) forward(node, what string, v version) {
	at := node + " " + what
	if v.before(w.versions[at]) {
		w.violated("%s held %s at version %v and holds version %v", node, what, w.versions[at], v)
	}
	w.versions[at] = v
}

// parseVersion returns the zero version for none.
func parseVersion(text string) (v version) {
	if _, err := fmt.Sscanf(text, "%d.%d.%d", &v[0], &v[1], &v[2]); err != nil {
		return version{}
	}
	return v
}

// maxVersions of a key are remembered.
const maxVersions = 1000

// violated notes the first violation.
func (w *watch) violated(format string, args ...any) {
	if w.wrong == nil {
		w.wrong = errors.New("invariant: " + fmt.Sprintf(format, args...))
		w.load.note("%v", w.wrong)
	}
}

func (w *watch) verdict() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.wrong
}

// String says how much was looked at.
func (w *watch) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return fmt.Sprint(w.looks, " looks at ", len(w.states), " keys and the epochs ", w.epochs)
}
