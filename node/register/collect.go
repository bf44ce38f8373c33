package register

import (
	"slices"

	"github.com/quolldb/quoll/internal/record"
)

// Page is some keys of a slot in a joint epoch, and what old members show of them to a new member that collects what the slot holds
// (R18). Like a Home it does no I/O. When a majority has shown the page,
//
//	acceptor.TakeOver(page, w)     takes over what was shown of the slot as a whole,
//	page.Decide(acceptor)          says of each key what becomes of it, as soon as w has been persisted,
//	acceptor.Copy(...)             takes a record that is to be copied, which comes from one of those that showed its version.
//
// All of it in the page's epoch: a replica that is in another one has no use for the page any more.
type Page struct {
	config *Config
	self   int
	shown  set
	metas  []record.SlotMeta // of those that have shown the page, by index
	rows   []row
	byKey  map[string]int // index of rows
}

// row is what is shown of a key.
type row struct {
	key      []byte
	held     set              // who shows a record,
	versions []record.Version // of which version, by index
}

// Agreed is a version of a key that a majority of the old members holds.
type Agreed struct {
	Key     []byte
	Version record.Version
}

// NewPage returns a page without keys yet, for a member of a joint configuration.
func NewPage(config *Config, self uint16) *Page {
	return &Page{config: config, self: config.index(self), metas: make([]record.SlotMeta, config.old.size()), byKey: map[string]int{}}
}

// Show notes what an old member holds of the slot as a whole at the moment at which it shows the page. It reports false of one that is no old member:
// it has nothing to show.
func (p *Page) Show(member uint16, meta record.SlotMeta) bool {
	i := p.config.index(member)
	if i < 0 || !p.config.old.has(i) {
		return false
	}
	p.shown.add(i)
	p.metas[i] = meta
	return true
}

// Record notes a record that a member holds that has shown the page, at the same moment. The key is kept.
func (p *Page) Record(member uint16, key []byte, version record.Version) {
	r := p.row(key)
	i := p.config.index(member)
	r.held.add(i)
	r.versions[i] = version
}

// Key adds a key of which nobody may show anything: the one that collects holds it. It is kept.
func (p *Page) Key(key []byte) { p.row(key) }

func (p *Page) row(key []byte) *row {
	i, known := p.byKey[string(key)]
	if !known {
		i = len(p.rows)
		p.rows = append(p.rows, row{key: key, versions: make([]record.Version, len(p.metas))})
		p.byKey[string(key)] = i
	}
	return &p.rows[i]
}

// Enough reports whether a majority of the old members has shown the page.
func (p *Page) Enough() bool { return majority(p.shown, p.config.old) }

// Clear reports whether everything is agreed on that was shown, so that it is of no use to ask further members.
func (p *Page) Clear() bool {
	_, agreed := p.agreedClear()
	return agreed && !slices.ContainsFunc(p.rows, func(r row) bool {
		_, agreed := p.agreedOn(&r)
		return !agreed
	})
}

// Shows reports whether a member shows a record of this version.
func (p *Page) Shows(member uint16, a Agreed) bool {
	i, known := p.byKey[string(a.Key)]
	m := p.config.index(member)
	return known && m >= 0 && p.rows[i].held.has(m) && p.rows[i].versions[m] == a.Version
}

// agreed returns what a majority of the old members shows in one and the same version. What is unsure is agreed on with nobody.
func (p *Page) agreed(of func(member int) (v record.Version, sure bool)) (record.Version, bool) {
	for i := range p.metas {
		v, sure := of(i)
		if !p.shown.has(i) || !sure {
			continue
		}
		var same set
		for k := range p.metas {
			if other, sure := of(k); p.shown.has(k) && sure && other == v {
				same.add(k)
			}
		}
		if majority(same, p.config.old) {
			return v, true
		}
	}
	return record.Version{}, false
}

func (p *Page) agreedClear() (record.Version, bool) {
	return p.agreed(func(i int) (record.Version, bool) { return p.metas[i].Cleared, !p.metas[i].Unsure })
}

// agreedOn is agreed of a key: what is shown of it is its record's version or, without one, that of the slot's clear.
func (p *Page) agreedOn(r *row) (record.Version, bool) {
	return p.agreed(func(i int) (record.Version, bool) {
		if r.held.has(i) {
			return r.versions[i], true
		}
		return p.metas[i].Cleared, !p.metas[i].Unsure
	})
}

// TakeOver wants the replica to have what was shown of the slot as a whole: the highest floor and promise, and the clear that is agreed. If none is, it
// takes the highest, which is unsure then. A clear raises the floor as well: who has a write in doubt that it removed may find neither of them (R11).
func (a *Acceptor) TakeOver(p *Page, w *Write) {
	meta, unsure := a.meta, false
	cleared, agreed := p.agreedClear()
	for i := range p.metas {
		shown := &p.metas[i]
		if !p.shown.has(i) {
			continue
		}
		meta.Floor = record.Max(meta.Floor, record.Max(shown.Floor, shown.Cleared))
		if meta.Promised.Less(shown.Promised) {
			meta.Promised = shown.Promised
		}
		if !agreed && cleared.Less(shown.Cleared) {
			cleared, unsure = shown.Cleared, true
		}
	}
	kind := WriteNothing
	switch {
	case a.meta.Cleared.Less(cleared):
		meta.Cleared, meta.Unsure = cleared, unsure
		kind = WriteClear
	case a.meta.Cleared == cleared && agreed:
		meta.Unsure = false
	}
	if meta != a.meta {
		w.replace(kind, a.slot, meta)
	}
}

// Decide says what becomes of the keys: which records the one that collects has to copy, and which keys a home has to write again. Its replica
// has taken over what was shown of the slot (TakeOver), and has made no step since then that is not shown here. An error is the store's.
func (p *Page) Decide(a *Acceptor) (copies []Agreed, again [][]byte, err error) {
	stays := p.config.old.has(p.self)
	for i := range p.rows {
		r := &p.rows[i]
		own, present, err := a.Read(r.key)
		if err != nil {
			return nil, nil, err
		}
		v, agreed := p.agreedOn(r)
		switch {
		case !agreed && (r.held != 0 || stays && present):
			again = append(again, r.key)
		case agreed && stays && present && v.Less(own.Version): // nobody else may have seen it
			again = append(again, r.key)
		case agreed && own.Version.Less(v):
			copies = append(copies, Agreed{Key: r.key, Version: v})
		}
	}
	return copies, again, nil
}

// Copy wants a record written that was agreed on, if nothing newer is there, past any promise. It takes over the value; the key is borrowed until
// Persisted. It reports false if rec, which is what one of those holds by now that showed the version, is another one: then nobody knows whether that
// is agreed, and a home has to write the key again. An error is the store's.
func (a *Acceptor) Copy(agreed Agreed, rec record.Record, w *Write) (bool, error) {
	if rec.Version != agreed.Version {
		return false, nil
	}
	held, _, err := a.Read(agreed.Key)
	if err != nil || !held.Version.Less(agreed.Version) {
		return true, err
	}
	w.Kind, w.Slot, w.Version, w.Changes = WriteChanges, a.slot, rec.Version, []record.Change{{Key: agreed.Key, State: rec.State}}
	return true, nil
}
