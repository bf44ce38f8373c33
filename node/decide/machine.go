package decide

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/quolldb/quoll/node/consensus"
	"github.com/quolldb/quoll/ring/change"
)

// Machine is the document that the log makes. It implements consensus.Machine. Anybody may read it.
//
// What it has may be older than what the node knows of the ring by other ways: after a restart it comes up to date entry by entry. It is
// never newer than what it has published.
type Machine struct {
	// Refused, if not nil, is told of each entry that the document refuses, also when it is applied again after a restart. It must not block.
	Refused  func(change.Entry, error)
	publish  func(change.Document)
	document atomic.Pointer[change.Document]
	changed  chan struct{}
}

var _ consensus.Machine = (*Machine)(nil)

// NewMachine returns a machine without a document. publish is called with each that it makes, in order; it must not block.
func NewMachine(publish func(change.Document)) *Machine {
	return &Machine{publish: publish, changed: make(chan struct{}, 1)}
}

// Document returns what the machine has, nil before it has anything. It is not to be changed.
func (m *Machine) Document() *change.Document { return m.document.Load() }

// Apply implements consensus.Machine. What it refuses is a result, too: the proposer reads from it which error it was.
func (m *Machine) Apply(_ uint64, entry []byte) ([]byte, error) {
	at, e, err := decodeEntry(entry)
	if err != nil {
		return nil, err
	}
	d := m.document.Load()
	if d == nil {
		return nil, fmt.Errorf("%w: it comes before the ring", consensus.ErrUnknownEntry)
	}
	next, err := change.Apply(*d, e, at)
	if err != nil {
		if m.Refused != nil {
			m.Refused(e, err)
		}
		return encodeOutcome(0, err), nil
	}
	m.become(next)
	return encodeOutcome(next.Version, nil), nil
}

// Snapshot implements consensus.Machine.
func (m *Machine) Snapshot() []byte {
	d := m.document.Load()
	if d == nil {
		return nil
	}
	return d.Encode()
}

var errEmpty = errors.New("it has no ring")

// Restore implements consensus.Machine.
func (m *Machine) Restore(snapshot []byte) error {
	if len(snapshot) == 0 {
		return errEmpty
	}
	d, err := change.Decode(snapshot)
	if err != nil {
		return err
	}
	m.become(d)
	return nil
}

func (m *Machine) become(d change.Document) {
	m.document.Store(&d)
	m.publish(d)
	select {
	case m.changed <- struct{}{}:
	default:
	}
}
