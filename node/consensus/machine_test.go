package consensus

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
)

// machine is a Machine that remembers the whole log. It refuses what begins with "refuse", and does not know what begins with "unknown".
type machine struct {
	mu  sync.Mutex
	log []logged
	// check, unless nil, sees all that is applied or restored.
	check func(log []logged, upTo uint64)
	// padding is by how much longer snapshots are. A newer machine knows everything.
	padding int
	newer   bool
}

type logged struct {
	Index uint64
	Text  string
}

func (m *machine) Apply(index uint64, entry []byte) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if strings.HasPrefix(string(entry), "refuse") {
		return nil, errors.New("the machine does not like it")
	}
	if strings.HasPrefix(string(entry), "unknown") && !m.newer {
		return nil, fmt.Errorf("%q: %w", entry, ErrUnknownEntry)
	}
	m.log = append(m.log, logged{index, string(entry)})
	if m.check != nil {
		m.check(m.log, index)
	}
	return fmt.Appendf(nil, "%d", len(m.log)), nil
}

func (m *machine) Snapshot() []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	b, err := json.Marshal(m.log)
	if err != nil {
		panic(err)
	}
	return append(b, strings.Repeat(" ", m.padding)...)
}

func (m *machine) Restore(snapshot []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.log = nil
	if err := json.Unmarshal(snapshot, &m.log); err != nil {
		return err
	}
	if m.check != nil {
		m.check(m.log, 0)
	}
	return nil
}

// texts returns what was applied, in order.
func (m *machine) texts() (all []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, l := range m.log {
		all = append(all, l.Text)
	}
	return all
}

func (m *machine) has(text string) bool {
	for _, t := range m.texts() {
		if t == text {
			return true
		}
	}
	return false
}
