package register

import (
	"errors"

	"github.com/quolldb/quoll/internal/record"
)

// ErrRebuilding is returned by a replica that is being rebuilt: it does not vote.
var ErrRebuilding = errors.New("register: the replica is being rebuilt")

// ErrNotNow is returned when a replica cannot be rebuilt at this moment, or under this
// configuration. It may be tried again.
var ErrNotNow = errors.New("register: the replica cannot be rebuilt now")

// Rebuild gives a replica that cannot read some of its records those of all other members
// of its slot, and its vote back. Like a Home it does no I/O: the caller asks the members,
// hands over what they say, and has persisted what is in Write then: Persisted is told what came of it.
//
// Each other member promises Ballot (Acceptor.Fence) before it shows anything, and shows all
// records that it holds afterwards, at one time or in parts. What this replica may have acknowledged is of
// lower ballots: whatever of it was chosen is held by another member, and nothing of it can be
// chosen any more that no other member has shown. Therefore all of them are needed, and not a quorum: a
// version that this replica copies may be held by a quorum from then on, so there must be none
// that is higher, and not built on it.
type Rebuild struct {
	// Write is what the method that was called last wants to have persisted before the next one.
	Write Write

	home     *Home
	config   *Config
	ballot   record.Ballot
	meta     record.SlotMeta // what is known of the slot's state in the end
	promised set
	copied   set
	emptied  bool           // the own records have been removed,
	cleared  record.Version // with this clear
}

// Rebuild begins to rebuild the home's own replica, which stops voting, over restarts too, until
// Finish: as soon as Write has been persisted. It adds to out what becomes of the home's requests. What it does is undone by nothing but another Rebuild. An error is
// ErrNotNow.
func (h *Home) Rebuild(out *Ready) (*Rebuild, error) {
	h.Fail(ErrRebuilding, out)
	self, others := h.config.index(h.self), len(h.config.members)-1
	if self < 0 || others == 0 || h.config.Joint() || h.config.epoch < h.local.meta.Epoch {
		return nil, ErrNotNow
	}
	h.counter = max(h.counter, h.local.rival().Counter) + 1
	meta := h.local.meta
	meta.Epoch, meta.Rebuilding = h.config.epoch, true
	meta.Promised = record.Ballot{Counter: h.counter, Incarnation: h.incarnation}
	r := &Rebuild{home: h, config: h.config, ballot: meta.Promised, meta: meta}
	r.promised.add(self)
	r.copied.add(self)
	*h.local.change(&r.Write) = meta
	return r, nil
}

// Ballot returns what the other members have to promise before they show their records.
func (r *Rebuild) Ballot() record.Ballot { return r.ballot }

// Config returns the configuration whose members are asked.
func (r *Rebuild) Config() *Config { return r.config }

// Persisted tells the rebuild what came of Write, and returns err, or why the replica cannot be used any more. A member that
// had promised, or shown something, may say so again if it failed.
func (r *Rebuild) Persisted(err error) error {
	kind, meta := r.Write.Kind, r.Write.Meta
	if err = r.home.local.Persisted(&r.Write, err); err != nil {
		return err
	}
	if kind == WriteReset {
		r.emptied, r.cleared = true, meta.Cleared
	}
	if !r.home.local.meta.Rebuilding { // it is over
		r.home.failed = nil
	}
	return nil
}

// Fence promises at least the ballot of a Rebuild of another replica, under its epoch. It
// reports false for an older epoch than this replica's. What is read of the slot after w, which is to be empty, has been persisted may be
// copied by the other replica, as soon as the promise is durable.
func (a *Acceptor) Fence(epoch uint64, b record.Ballot, w *Write) (bool, error) {
	if a.meta.Rebuilding {
		return false, ErrRebuilding
	}
	if !a.Adopt(epoch, w) {
		return false, nil
	}
	a.promise(b, w)
	return true, nil
}

// current reports whether the ring is still the one under which the rebuild began.
func (r *Rebuild) current() bool {
	return r.config == r.home.config && r.config.epoch == r.home.local.meta.Epoch && r.home.local.meta.Rebuilding &&
		r.home.local.meta.Promised == r.ballot
}

// Promised notes that a member has promised the ballot, and its slot's floor and clear. When all have,
// the own records are to be removed, and it reports true from then on: after that records can be copied.
func (r *Rebuild) Promised(member uint16, floor, cleared record.Version) (bool, error) {
	i := r.config.index(member)
	if i < 0 || !r.current() {
		return false, ErrNotNow
	}
	r.learn(floor, cleared)
	if r.promised.add(i); r.emptied || !r.config.all(r.promised) {
		return r.emptied, nil
	}
	empty := r.home.local.meta
	empty.Cleared = r.meta.Cleared
	r.Write.replace(WriteReset, r.home.slot, empty)
	return true, nil
}

// learn takes over what is higher at a member.
func (r *Rebuild) learn(floor, cleared record.Version) {
	r.meta.Floor = record.Max(r.meta.Floor, floor)
	r.meta.Cleared = record.Max(r.meta.Cleared, cleared)
	r.raise(floor.Ballot)
	r.raise(cleared.Ballot)
}

func (r *Rebuild) raise(b record.Ballot) {
	if r.meta.Promised.Less(b) {
		r.meta.Promised = b
	}
}

// Copy wants a record written that a member showed, if nothing newer is there. It takes over the
// value. The key is borrowed until Persisted. An error is ErrNotNow, or the store's.
func (r *Rebuild) Copy(key []byte, rec record.Record) error {
	if !r.current() || !r.emptied {
		return ErrNotNow
	}
	held, _, err := r.home.local.store.Get(r.home.slot, key)
	if err != nil || !record.Max(held.Version, r.meta.Cleared).Less(rec.Version) {
		return err
	}
	r.raise(rec.Version.Ballot)
	w := &r.Write
	w.Kind, w.Slot, w.Version, w.Changes = WriteChanges, r.home.slot, rec.Version, []record.Change{{Key: key, State: rec.State}}
	return nil
}

// Copied notes that a member has shown all its records, and the slot's floor and clear as they were
// with the last one.
func (r *Rebuild) Copied(member uint16, floor, cleared record.Version) error {
	i := r.config.index(member)
	if i < 0 || !r.current() {
		return ErrNotNow
	}
	r.learn(floor, cleared)
	r.copied.add(i)
	return nil
}

// Finish lets the replica vote again, and its home work, once Write has been persisted, if all members have shown all records;
// else it is ErrNotNow. What is answered from then on waits until everything copied is durable, as
// all answers do (R2).
func (r *Rebuild) Finish() error {
	if !r.current() || !r.config.all(r.copied) {
		return ErrNotNow
	}
	meta := r.meta
	meta.Rebuilding = false
	kind := WriteNothing
	if r.cleared.Less(meta.Cleared) { // records may have been copied that it removes
		kind = WriteClear
	}
	r.Write.replace(kind, r.home.slot, meta)
	return nil
}
