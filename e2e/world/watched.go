package world

import (
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/engine/disk"
	"github.com/quolldb/quoll/node/engine/memory"
)

// survivor is an engine in memory whose content outlives Close. Its holder knows what it holds, which is durable at once.
type survivor struct {
	*memory.Engine
	holder *holder
}

func (survivor) Close() error { return nil }

func (s survivor) noted(err error) error {
	if err == nil {
		s.holder.committed(s.holder.until())
	}
	return err
}

func (s survivor) Put(slot uint16, key []byte, rec record.Record) error {
	s.holder.put(slot, key, rec)
	return s.noted(s.Engine.Put(slot, key, rec))
}

func (s survivor) Change(slot uint16, key []byte, rec record.Record, base record.Version, delta []byte) error {
	s.holder.put(slot, key, rec)
	return s.noted(s.Engine.Change(slot, key, rec, base, delta))
}

func (s survivor) Patch(slot uint16, key []byte, version, base record.Version, delta []byte) error {
	err := s.Engine.Patch(slot, key, version, base, delta)
	s.holder.patched(s.Engine, slot, key)
	return s.noted(err)
}

func (s survivor) Delete(slot uint16, key []byte) error {
	s.holder.remove(slot, key)
	return s.noted(s.Engine.Delete(slot, key))
}

func (s survivor) PutSlot(slot uint16, meta record.SlotMeta) error {
	s.holder.slot(slot, meta, false)
	return s.noted(s.Engine.PutSlot(slot, meta))
}

func (s survivor) Reset(slot uint16, meta record.SlotMeta) error {
	s.holder.slot(slot, meta, true)
	return s.noted(s.Engine.Reset(slot, meta))
}

// watchedDisk is an engine on disk. Its holder knows what it has staged, and what of that is durable.
type watchedDisk struct {
	*disk.Engine
	holder *holder
}

// watchDisk has a holder find out what an engine holds that has just been opened.
func watchDisk(e *disk.Engine, h *holder) watchedDisk {
	h.begin()
	for slot := range uint16(engine.Slots) {
		if meta, err := e.Slot(slot); err == nil && (meta.Rebuilding || meta.Epoch > 0) {
			h.slot(slot, meta, false)
		}
		_ = e.Scan(slot, 0, func(_ engine.Position, key []byte, rec record.Record) bool { // of what cannot be read nothing is known
			h.put(slot, key, rec)
			return true
		})
	}
	return watchedDisk{e, h}
}

func (w watchedDisk) Put(slot uint16, key []byte, rec record.Record) error {
	w.holder.put(slot, key, rec)
	return w.Engine.Put(slot, key, rec)
}

func (w watchedDisk) Change(slot uint16, key []byte, rec record.Record, base record.Version, delta []byte) error {
	w.holder.put(slot, key, rec)
	return w.Engine.Change(slot, key, rec, base, delta)
}

func (w watchedDisk) Patch(slot uint16, key []byte, version, base record.Version, delta []byte) error {
	err := w.Engine.Patch(slot, key, version, base, delta)
	w.holder.patched(w.Engine, slot, key)
	return err
}

func (w watchedDisk) Delete(slot uint16, key []byte) error {
	w.holder.remove(slot, key)
	return w.Engine.Delete(slot, key)
}

func (w watchedDisk) PutSlot(slot uint16, meta record.SlotMeta) error {
	w.holder.slot(slot, meta, false)
	return w.Engine.PutSlot(slot, meta)
}

func (w watchedDisk) Reset(slot uint16, meta record.SlotMeta) error {
	w.holder.slot(slot, meta, true)
	return w.Engine.Reset(slot, meta)
}

// Commit implements engine.Engine.
func (w watchedDisk) Commit(done func(error)) {
	until := w.holder.until()
	w.Engine.Commit(func(err error) {
		if err == nil {
			w.holder.committed(until)
		}
		done(err)
	})
}
