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
// of its slot, and its vote back. Like a Home it does no I/O: the caller asks the members, and
// hands over what they say.
//
// Each other member promises Ballot (Acceptor.Fence) before it shows anything, and shows all
// records that it holds afterwards, at one time or in parts. What this replica may have acknowledged is of
// lower ballots: whatever of it was chosen is held by another member, and nothing of it can be
// chosen any more that no other member has shown. Therefore all of them are needed, and not a quorum: a
// version that this replica copies may be held by a quorum from then on, so there must be none
// that is higher, and not built on it.
type Rebuild struct {
	home     *Home
	config   *Config
	ballot   record.Ballot
	meta     record.SlotMeta // what is known of the slot's state in the end
	promised set
	copied   set
	emptied  record.Version // the clear that the slot was emptied with
}

// Rebuild begins to rebuild the home's own replica, which stops voting, over restarts too, until
// Finish. It adds to out what becomes of the home's requests. What it does is undone by nothing but another Rebuild. An error is ErrNotNow, or the
// store's.
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
	if err := h.local.put(meta); err != nil {
		return nil, err
	}
	r := &Rebuild{home: h, config: h.config, ballot: meta.Promised, meta: meta}
	r.promised.add(self)
	r.copied.add(self)
	return r, nil
}

// Ballot returns what the other members have to promise before they show their records.
func (r *Rebuild) Ballot() record.Ballot { return r.ballot }

// Config returns the configuration whose members are asked.
func (r *Rebuild) Config() *Config { return r.config }

// Fence promises at least the ballot of a Rebuild of another replica, under its epoch. It
// reports false for an older epoch than this replica's. What is read of the slot from then on may be
// copied by the other replica, as soon as the promise is durable.
func (a *Acceptor) Fence(epoch uint64, b record.Ballot) (bool, error) {
	if a.meta.Rebuilding {
		return false, ErrRebuilding
	}
	if current, err := a.Adopt(epoch); err != nil || !current {
		return false, err
	}
	return true, a.promise(b)
}

// current reports whether the ring is still the one under which the rebuild began.
func (r *Rebuild) current() bool {
	return r.config == r.home.config && r.config.epoch == r.home.local.meta.Epoch && r.home.local.meta.Rebuilding &&
		r.home.local.meta.Promised == r.ballot
}

// Promised notes that a member has promised the ballot, and its slot's floor and clear. When all have,
// the own records are removed, and it reports true from then on: records can be copied.
func (r *Rebuild) Promised(member uint16, floor, cleared record.Version) (bool, error) {
	i := r.config.index(member)
	if i < 0 || !r.current() {
		return false, ErrNotNow
	}
	r.learn(floor, cleared)
	ready := r.config.all(r.promised)
	if r.promised.add(i); ready || !r.config.all(r.promised) {
		return ready, nil
	}
	empty := r.home.local.meta
	empty.Cleared = r.meta.Cleared
	if err := r.home.local.store.Reset(r.home.slot, empty); err != nil {
		r.promised &^= 1 << i // it is told again
		return false, err
	}
	r.home.local.meta, r.emptied = empty, empty.Cleared
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

// Copy stages a record that a member showed, if nothing newer is there. It takes over the
// value.
func (r *Rebuild) Copy(key []byte, rec record.Record) error {
	if !r.current() || !r.config.all(r.promised) {
		return ErrNotNow
	}
	slot, store := r.home.slot, r.home.local.store
	held, _, err := store.Get(slot, key)
	if err != nil || !record.Max(held.Version, r.meta.Cleared).Less(rec.Version) {
		return err
	}
	r.raise(rec.Version.Ballot)
	return store.Stage(slot, rec.Version, []record.Change{{Key: key, State: rec.State}})
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

// Finish lets the replica vote again, and its home work, if all members have shown all records;
// else it is ErrNotNow. What is answered from then on waits until everything copied is durable, as
// all answers do (R2).
func (r *Rebuild) Finish() error {
	if !r.current() || !r.config.all(r.copied) {
		return ErrNotNow
	}
	a := r.home.local
	meta := r.meta
	meta.Rebuilding = false
	write := a.store.PutSlot
	if r.emptied.Less(meta.Cleared) { // records may have been copied that it removes
		write = a.store.Clear
	}
	if err := write(r.home.slot, meta); err != nil {
		return err
	}
	a.meta = meta
	r.home.failed = nil
	return nil
}
