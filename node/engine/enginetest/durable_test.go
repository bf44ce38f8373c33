package enginetest_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/engine/enginetest"
	"github.com/quolldb/quoll/node/engine/memory"
)

// TestRunDurable shows that the suite can be passed, by the simplest engine that survives.
func TestRunDurable(t *testing.T) {
	enginetest.RunDurable(t, func(_ *testing.T, dir string) (engine.Engine, error) { return openLogged(dir) })
}

// logged is an engine in memory that writes every change to a file before it makes it, and
// makes them all again when it is opened.
type logged struct {
	*memory.Engine
	file *os.File
}

// head is what the file has of a change, followed by key and value.
type head struct {
	Kind       uint8
	Type       record.Type
	Slot       uint16
	Key, Value uint32
	Version    record.Version
	ExpireAt   int64
	Meta       record.SlotMeta
}

const (
	putKind = iota
	deleteKind
	clearKind
	resetKind
	metaKind
)

func openLogged(dir string) (*logged, error) {
	name := filepath.Join(dir, "log")
	log, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	l := &logged{Engine: memory.New()}
	good := 0
	for in := bytes.NewReader(log); ; good = len(log) - in.Len() {
		var h head
		if binary.Read(in, binary.LittleEndian, &h) != nil || in.Len() < int(h.Key+h.Value) {
			break // the end, or a change that was being written
		}
		both := make([]byte, h.Key+h.Value)
		_, _ = io.ReadFull(in, both)
		if err := l.apply(h, both[:h.Key], both[h.Key:]); err != nil {
			return nil, err
		}
	}
	l.file, err = os.OpenFile(name, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	return l, l.file.Truncate(int64(good))
}

func (l *logged) do(h head, key, value []byte) error {
	h.Key, h.Value = uint32(len(key)), uint32(len(value))
	out, err := binary.Append(nil, binary.LittleEndian, h)
	if err != nil {
		return err
	}
	if _, err := l.file.Write(append(append(out, key...), value...)); err != nil {
		return err
	}
	return l.apply(h, key, value)
}

func (l *logged) apply(h head, key, value []byte) error {
	switch h.Kind {
	case putKind:
		state := record.State{Type: h.Type, ExpireAt: h.ExpireAt, Value: value}
		return l.Engine.Put(h.Slot, key, record.Record{Version: h.Version, State: state})
	case deleteKind:
		return l.Engine.Delete(h.Slot, key)
	case clearKind:
		return l.Engine.Clear(h.Slot, h.Meta)
	case resetKind:
		return l.Engine.Reset(h.Slot, h.Meta)
	default:
		return l.Engine.PutSlot(h.Slot, h.Meta)
	}
}

func (l *logged) Put(slot uint16, key []byte, rec record.Record) error {
	h := head{Kind: putKind, Slot: slot, Type: rec.State.Type, ExpireAt: rec.State.ExpireAt, Version: rec.Version}
	return l.do(h, key, rec.State.Packed().Value)
}

func (l *logged) Change(slot uint16, key []byte, rec record.Record, _ record.Version, _ []byte) error {
	return l.Put(slot, key, rec)
}

func (l *logged) Patch(slot uint16, key []byte, version, _ record.Version, delta []byte) error {
	rec, _, err := l.Get(slot, key)
	p, ok := record.PatchOf(rec.State, delta)
	if err != nil || !ok {
		return errors.Join(err, engine.ErrPatch)
	}
	return l.Put(slot, key, record.Record{Version: version, State: p.Of(rec.State, nil)})
}

func (l *logged) Delete(slot uint16, key []byte) error {
	return l.do(head{Kind: deleteKind, Slot: slot}, key, nil)
}

func (l *logged) Clear(slot uint16, meta record.SlotMeta) error {
	return l.do(head{Kind: clearKind, Slot: slot, Meta: meta}, nil, nil)
}

func (l *logged) Reset(slot uint16, meta record.SlotMeta) error {
	return l.do(head{Kind: resetKind, Slot: slot, Meta: meta}, nil, nil)
}

func (l *logged) PutSlot(slot uint16, meta record.SlotMeta) error {
	return l.do(head{Kind: metaKind, Slot: slot, Meta: meta}, nil, nil)
}

func (l *logged) Usage() engine.Usage {
	info, err := l.file.Stat()
	if err != nil {
		return engine.Usage{}
	}
	size := uint64(info.Size())
	return engine.Usage{Disk: size, Live: size, Free: 1 << 30}
}

func (l *logged) Close() error { return errors.Join(l.Engine.Close(), l.file.Close()) }
