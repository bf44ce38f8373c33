package hint

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestWhatWasNotedIsThereOrMarked over batches that are done or put back, restarts, and files that lost
// their end or have a wrong byte.
func TestWhatWasNotedIsThereOrMarked(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp("", "hints")
		require.NoError(t, err)
		defer os.RemoveAll(dir)
		f := newFixture(t, dir)
		f.opt.Limit = rapid.Int64Range(200, 4000).Draw(t, "limit")
		m := &model{fixture: f, set: Open(f.opt), keys: map[string]uint16{}, marks: map[uint16]bool{}}
		defer func() { _ = m.set.Close() }()
		t.Repeat(map[string]func(*rapid.T){
			"add":     m.add,
			"mark":    m.mark,
			"take":    m.take,
			"again":   m.add, // most of what happens
			"restart": m.restart,
			"":        m.check,
		})
	})
}

// model is what a set has to know. What an overflow has marked is only known to the set.
type model struct {
	*fixture
	set   *Set
	keys  map[string]uint16
	marks map[uint16]bool
}

func name(slot uint16, key string) string { return fmt.Sprint(slot, " ", key) }

func (m *model) add(t *rapid.T) {
	slot, key := rapid.Uint16Range(0, 5).Draw(t, "slot"), rapid.StringN(0, 5, 20).Draw(t, "key")
	m.set.Add(slot, []byte(key))
	m.keys[name(slot, key)] = slot
}

func (m *model) mark(t *rapid.T) {
	slot := rapid.Uint16Range(0, 5).Draw(t, "slot")
	m.set.Mark(slot)
	m.marks[slot] = true
}

func (m *model) take(t *rapid.T) {
	batch := m.set.Take(rapid.IntRange(1, 5).Draw(t, "n"))
	if rapid.Bool().Draw(t, "put back") {
		m.set.Requeue()
		return
	}
	for _, h := range batch.Hints {
		delete(m.keys, name(h.Slot, string(h.Key)))
	}
	for _, slot := range batch.Marks {
		delete(m.marks, slot)
		for key, of := range m.keys {
			if of == slot {
				delete(m.keys, key)
			}
		}
	}
	m.set.Done()
}

// restart closes and opens the set, maybe after the file was changed.
func (m *model) restart(t *rapid.T) {
	require.NoError(m.t, m.set.Close())
	text, err := os.ReadFile(m.file())
	if err == nil {
		switch rapid.SampledFrom([]string{"clean", "flip", "tear"}).Draw(t, "how") {
		case "flip":
			text[rapid.IntRange(0, len(text)-1).Draw(t, "at")] ^= byte(rapid.IntRange(1, 255).Draw(t, "bits"))
		case "tear":
			text = m.tear(t, text)
		}
		require.NoError(m.t, os.WriteFile(m.file(), text, 0o600))
	}
	m.set = Open(m.opt)
}

// tear cuts the end of the file off. What was in it is lost, and nothing else.
func (m *model) tear(t *rapid.T, text []byte) []byte {
	header := len(appendHeader(nil, m.opt.Replica, m.opt.Generation))
	text = text[:rapid.IntRange(header, len(text)).Draw(t, "left")]
	rest := Open(Options{Limit: m.opt.Limit})
	_, err := rest.load(text[header:])
	require.NoError(m.t, err)
	var all marks
	m.keys, all = known(rest)
	for slot := range m.marks {
		if !all.has(slot) {
			delete(m.marks, slot)
		}
	}
	return text
}

// known returns what a set knows.
func known(s *Set) (keys map[string]uint16, all marks) {
	s.mu.Lock()
	defer s.mu.Unlock()
	keys = map[string]uint16{}
	for slot, those := range s.slots {
		for key := range those {
			keys[name(slot, key)] = slot
		}
	}
	return keys, s.marks
}

func (m *model) check(*rapid.T) {
	keys, all := known(m.set)
	for key, slot := range m.keys {
		_, there := keys[key]
		require.True(m.t, there || all.has(slot), "%q is lost", key)
	}
	for slot := range m.marks {
		require.True(m.t, all.has(slot), "the mark of %d is lost", slot)
	}
	bytes := int64(0)
	for key := range keys {
		bytes += int64(len(key)-2) + keyCost
	}
	require.Equal(m.t, Counts{Keys: len(keys), Bytes: bytes, Marks: all.n}, m.set.Counts())
	require.LessOrEqual(m.t, bytes, m.set.limit)
}
