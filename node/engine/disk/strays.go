package disk

import (
	"bytes"
	"cmp"
	"context"

	"github.com/quolldb/quoll/internal/record"
)

// inParts returns the object of a state that the store is to have in parts, if it is one. A key that is with its value (see maxKey) has none.
func (e *Engine) inParts(at []byte, st record.State) record.Parted {
	object, ok := st.Object.(record.Parted)
	if !ok || e.opt.Assemble == nil || int64(object.Size()) < e.opt.PartsFrom || at[formAt] != formKey {
		return nil
	}
	return object
}

// firstParts notes in the store that it has values in parts, before it has any.
func (e *Engine) firstParts() error {
	if e.parted.Load() {
		return nil
	}
	if err := e.mark(markFormat, formatParts); err != nil {
		return err
	}
	e.parted.Store(true)
	return nil
}

// sweepParts removes what is left of objects and is known, and goes on with looking for others that no head names: a crash may leave some, and a store
// may bring some back. No part may be written meanwhile: it would be taken for one of those.
func (e *Engine) sweepParts(ctx context.Context) error {
	e.sources.prune()
	if err := e.dropEnded(ctx); err != nil {
		return err
	}
	if !e.parted.Load() {
		return nil
	}
	if e.straysRest > 0 {
		e.straysRest--
		return nil
	}
	w := stream{store: e.store}
	for _, key := range e.findStrays() {
		if err := w.remove(key); err != nil {
			return err
		}
	}
	return w.flush()
}

// endedMost bounds what is known to be left of objects. Of more the sweep finds out.
const endedMost = 1 << 17

// end notes what nobody needs of objects once it is not held: the keys of parts, and what those of an object begin with.
func (e *Engine) end(keys ...[]byte) {
	e.ended = append(e.ended, keys[:min(len(keys), endedMost-len(e.ended))]...)
}

// dropEnded removes what objects have left that nobody holds: parts, and as long as there is time, whole objects.
func (e *Engine) dropEnded(ctx context.Context) (err error) {
	w := stream{store: e.store}
	left := e.ended[:0]
	for _, key := range e.ended {
		switch {
		case err != nil || e.sources.held(objectIn(key)) || len(key) < partKeyLen && ctx.Err() != nil:
			left = append(left, key)
		case len(key) == partKeyLen:
			err = w.remove(key)
		default:
			err = e.dropAll(ctx, key)
		}
	}
	clear(e.ended[len(left):])
	e.ended = left
	return cmp.Or(err, w.flush())
}

// dropAll removes the keys with a prefix, which is not all 0xff.
func (e *Engine) dropAll(ctx context.Context, prefix []byte) error {
	to := bytes.Clone(prefix)
	for i := len(to) - 1; ; i-- {
		if to[i]++; to[i] != 0 {
			break
		}
	}
	for all := false; !all && ctx.Err() == nil; {
		var err error
		if all, err = e.store.Drop(prefix, to); err != nil {
			return err
		}
	}
	return nil
}

// findStrays looks at the parts of some positions, orphansStep parts at least; after many it rests for as many times. It returns the keys
// of those that no head names: none if the store cannot be read, which whoever needs it is told.
func (e *Engine) findStrays() (strays [][]byte) {
	err := e.store.View(func(r Reader) error {
		for n := 0; n < orphansStep; {
			keys, err := partsFrom(r, e.straysFrom)
			if err != nil {
				return err
			}
			if len(keys) == 0 {
				e.straysFrom = nil
				return nil
			}
			c, err := take(r, keys[0])
			if err != nil {
				return err
			}
			for _, key := range keys {
				if p := partIn(key); c.stray(p) && !e.sources.held(p.Object) {
					strays = append(strays, key)
				}
			}
			n += len(keys)
			e.straysRest = n/orphansStep - 1
			e.straysFrom = append(bytes.Clone(keys[len(keys)-1]), 0)
		}
		return nil
	})
	if err != nil {
		e.straysFrom = nil
		return nil
	}
	return strays
}

// partsFrom returns the keys of the parts at the first position that has any, from a key on.
func partsFrom(r Reader, from []byte) (keys [][]byte, err error) {
	err = each(r, partsPrefix, from, func(it Iterator) (bool, error) {
		key := it.Key()
		if len(key) != partKeyLen {
			return false, errDamaged
		}
		if len(keys) > 0 && !bytes.Equal(key[:partPlace], keys[0][:partPlace]) {
			return false, nil
		}
		keys = append(keys, bytes.Clone(key))
		return true, nil
	})
	return keys, err
}

// census is what the heads at one position name.
type census struct {
	at      []byte // the position, as all their keys begin
	named   map[record.Place]bool
	unclear map[uint64]bool // objects with a part that cannot be read: what is below it is not known
	damaged bool            // so is a head
}

// stray reports whether it is certain that no head names a part.
func (c *census) stray(p record.Place) bool { return !c.damaged && !c.unclear[p.Object] && !c.named[p] }

// take returns the census of the position that a part is at.
func take(r Reader, part []byte) (*census, error) {
	c := &census{at: part[len(partsPrefix):partPlace], named: map[record.Place]bool{}, unclear: map[uint64]bool{}}
	var heads []head
	err := each(r, c.at, nil, func(it Iterator) (bool, error) {
		value, err := it.Value()
		if err != nil {
			return false, err
		}
		switch _, away, err := decodeRecord(it.Key(), value); {
		case err != nil:
			c.damaged = true
		case away.parts.object != 0:
			heads = append(heads, away.parts)
		}
		return true, nil
	})
	for _, h := range heads {
		c.add(r, record.Place{Object: h.object, Part: h.root}, h.deep)
	}
	return c, err
}

// add notes a part and what is below it.
func (c *census) add(r Reader, p record.Place, deep bool) {
	c.named[p] = true
	if !deep {
		return
	}
	b, _, err := readPart(r, c.at, p)
	if err != nil {
		c.unclear[p.Object] = true
		return
	}
	for _, number := range b.parts {
		c.add(r, record.Place{Object: p.Object, Part: number}, b.deep)
	}
}
