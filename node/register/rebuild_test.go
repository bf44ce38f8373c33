package register

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/datatype"
)

// termOf is the ballot of a home that is not simulated.
func termOf(counter uint64, member uint16) record.Ballot {
	return record.Ballot{Counter: counter, Incarnation: record.NewIncarnation(90, member)}
}

// rot begins to rebuild a process' replica: one of its records cannot be read.
func (c *cluster) rot(id uint16) *Rebuild {
	helper(c.t)
	r, err := c.process(id).rebuild()
	require.NoError(c.t, err)
	return r
}

// fence lets some members promise, and reports whether all have.
func (c *cluster) fence(r *Rebuild, members ...uint16) (ready bool) {
	helper(c.t)
	for _, id := range members {
		current, err := fence(c.process(id).acceptor, r.Config().Epoch(), r.Ballot())
		require.NoError(c.t, err)
		require.True(c.t, current)
		meta := c.process(id).acceptor.Meta()
		ready, err = r.Promised(id, meta.Floor, meta.Cleared)
		err = rebuilt(r, err)
		require.NoError(c.t, err)
	}
	return ready
}

// show copies all that some members hold.
func (c *cluster) show(r *Rebuild, members ...uint16) {
	helper(c.t)
	for _, id := range members {
		for key, rec := range c.process(id).store.records {
			require.NoError(c.t, rebuilt(r, r.Copy([]byte(key), rec)))
		}
		meta := c.process(id).acceptor.Meta()
		require.NoError(c.t, rebuilt(r, r.Copied(id, meta.Floor, meta.Cleared)))
	}
}

// tell hands a request of a home that is not simulated to one replica.
func (c *cluster) tell(id uint16, m Message) (Message, error) {
	m.Epoch, m.Version.Ballot = 1, m.Ballot
	var reply Message
	err := execute(c.process(id).acceptor, &m, &reply)
	return reply, err
}

func TestARebuiltReplicaHoldsWhatItAcknowledged(t *testing.T) {
	c := newCluster(t, 3)
	c.by(write(termOf(1, 1), 1, "k", "v"), 1, 2)
	c.by(write(termOf(1, 1), 2, "deleted", ""), 1, 2)
	c.by(write(termOf(1, 1), 3, "own", "never chosen"), 1)
	r := c.rot(1)
	votes := func() bool {
		_, err := c.tell(1, Message{Kind: Confirm, Ballot: rival(2)})
		_, _, err2 := c.process(1).acceptor.Read([]byte("k"))
		require.Equal(t, err, err2)
		return err == nil
	}
	require.False(t, votes())
	c.failed(c.ask(1, "get k"), NotDone, StorageFailed, 0)
	require.False(t, c.fence(r, 2))
	require.ErrorIs(t, rebuilt(r, r.Copy([]byte("k"), record.Record{})), ErrNotNow, "not all have promised")
	require.NotEmpty(t, c.process(1).store.records, "they may yet be the last ones")
	require.True(t, c.fence(r, 3))
	c.show(r, 3)
	require.ErrorIs(t, rebuilt(r, r.Finish()), ErrNotNow)
	c.show(r, 2)
	require.False(t, votes())
	require.NoError(t, rebuilt(r, r.Finish()))
	require.True(t, votes())
	require.Equal(t, c.process(2).store.records, c.process(1).store.records)
	require.ErrorIs(t, rebuilt(r, r.Copy([]byte("k"), record.Record{})), ErrNotNow, "it is over")

	c.dead[2] = true
	get := c.give(1, "get k", 2)
	c.run(1, 3)
	c.done(get, "$1\r\nv\r\n")
}

// TestWhatWasShownIsFinal: what a member accepted under an older ballot after it had shown its records might
// be chosen with the help of an acknowledgement that the rebuilt replica has forgotten, or be built
// on what came before a version that the rebuilt replica has made visible.
func TestWhatWasShownIsFinal(t *testing.T) {
	c := newCluster(t, 3)
	c.by(write(termOf(1, 1), 1, "k", "u"), 1, 2, 3)
	c.by(write(termOf(2, 3), 1, "k", "ur"), 3)               // by a home that died then
	c.by(Message{Kind: Prepare, Ballot: termOf(3, 2)}, 1, 2) // of one that finds u,
	late := write(termOf(3, 2), 1, "k", "uw")                // and builds on it
	r := c.rot(1)
	c.fence(r, 2, 3)
	c.show(r, 2, 3)
	require.NoError(t, rebuilt(r, r.Finish()))
	require.Equal(t, "ur", c.value(1, "k"), "1 and 3 agree: a client reads it")
	for id := uint16(1); id <= 3; id++ {
		reply, err := c.tell(id, late)
		require.NoError(t, err)
		require.Equal(t, StaleBallot, reply.Result, "the client read what is gone")
	}
}

// TestARebuildNeedsAllMembers: a quorum of the others holds all that was chosen, but what the copy makes visible
// must not be older than what was built on something else.
func TestARebuildNeedsAllMembers(t *testing.T) {
	c := newCluster(t, 5)
	c.by(write(termOf(1, 1), 1, "k", "u"), 1, 2, 3, 4, 5)
	c.by(write(termOf(2, 2), 1, "k", "ur"), 2, 3)               // by a home that died then
	c.by(Message{Kind: Prepare, Ballot: termOf(3, 5)}, 1, 4, 5) // of one that finds u,
	c.by(write(termOf(3, 5), 1, "k", "uw"), 5)                  // builds on it, and dies
	r := c.rot(1)
	require.False(t, c.fence(r, 2, 3, 4), "1, 2 and 3 would agree on what the next home does not find at 1, 4 and 5")
	require.ErrorIs(t, rebuilt(r, r.Finish()), ErrNotNow)
	require.True(t, c.fence(r, 5))
	c.show(r, 2, 3, 4)
	require.ErrorIs(t, rebuilt(r, r.Finish()), ErrNotNow)
	c.show(r, 5)
	require.NoError(t, rebuilt(r, r.Finish()))
	require.Equal(t, "uw", c.value(1, "k"))
}

func TestARebuildKeepsClears(t *testing.T) {
	clearing := func(b record.Ballot, seq uint64) Message {
		return Message{Kind: Clear, Ballot: b, Version: record.Version{Seq: seq}}
	}
	for name, test := range map[string]struct {
		before func(c *cluster)
		want   string // what 1 has of k in the end
	}{
		"its own":               {func(c *cluster) { c.by(clearing(termOf(2, 1), 1), 1) }, ""},
		"one that a member has": {func(c *cluster) { c.by(clearing(termOf(2, 1), 1), 3) }, ""},
		"one that is older":     {func(c *cluster) { c.by(clearing(termOf(1, 1), 1), 1, 2) }, "v"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, 3)
			test.before(c)
			for id := uint16(1); id <= 3; id++ { // who has the clear finds it older
				_, err := c.tell(id, write(termOf(1, 1), 5, "k", "v"))
				require.NoError(t, err)
			}
			r := c.rot(1)
			c.fence(r, 2, 3)
			c.show(r, 2, 3)
			require.NoError(t, rebuilt(r, r.Finish()))
			rec, present, err := c.process(1).acceptor.Read([]byte("k"))
			require.NoError(t, err)
			require.Equal(t, test.want, string(rec.State.Value))
			require.Equal(t, test.want != "", present)
		})
	}
	t.Run("one that comes in between", func(t *testing.T) {
		c := newCluster(t, 3)
		c.by(write(termOf(1, 1), 1, "k", "v"), 1, 2, 3)
		r := c.rot(1)
		c.fence(r, 2, 3)
		c.show(r, 2)
		c.by(clearing(rival(2), 1), 2, 3)
		c.show(r, 3)
		require.NoError(t, rebuilt(r, r.Finish()))
		rec, present, err := c.process(1).acceptor.Read([]byte("k"))
		require.NoError(t, err)
		require.False(t, present)
		require.Equal(t, record.Version{Ballot: rival(2), Seq: 1}, rec.Version)
		reply, err := c.tell(1, Message{Kind: Prepare, Ballot: termOf(99, 3)})
		require.NoError(t, err)
		require.Equal(t, StaleBallot, reply.Result, "what it holds is a promise, too")
	})
}

// TestACopyIsAPromise: a replica that holds a record refuses what is older than its ballot.
func TestACopyIsAPromise(t *testing.T) {
	c := newCluster(t, 3)
	r := c.rot(1)
	c.fence(r, 2, 3)
	c.by(write(rival(2), 1, "k", "v"), 2, 3) // a term above the rebuild's: the others do not wait
	c.show(r, 2, 3)
	require.NoError(t, rebuilt(r, r.Finish()))
	require.Equal(t, "v", c.value(1, "k"))
	reply, err := c.tell(1, Message{Kind: Prepare, Ballot: termOf(99, 3)})
	require.NoError(t, err)
	require.Equal(t, StaleBallot, reply.Result)
}

func TestARebuildTakesTheFloor(t *testing.T) {
	c := newCluster(t, 3)
	tombstone := write(termOf(1, 1), 3, "k", "")
	c.by(tombstone, 1, 2, 3)
	purge := Message{Kind: Purge, Ballot: tombstone.Ballot, Version: tombstone.Version, Change: record.Change{Key: tombstone.Key}}
	c.by(purge, 2, 3)
	r := c.rot(1)
	c.fence(r, 2, 3)
	c.show(r, 2, 3)
	require.NoError(t, rebuilt(r, r.Finish()))
	require.Equal(t, c.process(2).acceptor.Meta().Floor, c.process(1).acceptor.Meta().Floor)
}

// TestARebuildThatWasCutDoesNotVote: the process has been started again in the middle.
func TestARebuildThatWasCutDoesNotVote(t *testing.T) {
	c := newCluster(t, 3)
	c.by(write(termOf(1, 1), 1, "k", "v"), 1, 2)
	r := c.rot(1)
	c.fence(r, 2, 3)
	c.process(1).start(c.home(1).Config(), 7)
	for _, kind := range []Kind{Prepare, SyncRead, Confirm, Clear, Purge} {
		_, err := c.tell(1, Message{Kind: kind, Ballot: rival(3), Change: record.Change{Key: []byte("k")}})
		require.ErrorIs(t, err, ErrRebuilding, kind)
	}
	_, err := fence(c.process(1).acceptor, 1, rival(3))
	require.ErrorIs(t, err, ErrRebuilding, "nor does it help another replica")
	again := c.rot(1)
	require.True(t, r.Ballot().Less(again.Ballot()))
	c.fence(again, 2, 3)
	c.show(again, 2, 3)
	require.NoError(t, rebuilt(again, again.Finish()))
	require.Equal(t, "v", c.value(1, "k"))
}

func TestWhenAReplicaIsNotRebuilt(t *testing.T) {
	home := func(config *Config, epoch uint64) *Home {
		store := &fakeStore{records: map[string]record.Record{}, meta: record.SlotMeta{Epoch: epoch}}
		acceptor, err := NewAcceptor(0, store, datatype.Apply)
		require.NoError(t, err)
		h := NewHome(&process{cluster: newCluster(t, 1)}, &testTiming, 0, 1, record.NewIncarnation(1, 1), config, &acceptor)
		return &h
	}
	for name, h := range map[string]*Home{
		"nobody else has it": home(NewConfig(1, []uint16{1}, nil), 1),
		"a joint epoch":      home(NewConfig(1, []uint16{1, 2, 3}, []uint16{1, 2, 4}), 1),
		"no member any more": home(NewConfig(1, []uint16{2, 3}, nil), 1),
		"a newer epoch":      home(NewConfig(1, []uint16{1, 2, 3}, nil), 2),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := h.Rebuild(new(Ready))
			require.ErrorIs(t, err, ErrNotNow)
		})
	}
	t.Run("a full store", func(t *testing.T) {
		c := newCluster(t, 3)
		c.fill(1)
		_, err := c.process(1).rebuild()
		require.ErrorIs(t, err, ErrNoRoom)
		c.makeRoom(1)
		r := c.rot(1)
		c.fence(r, 2)
		c.fill(1)
		_, err = r.Promised(3, record.Version{}, record.Version{})
		require.ErrorIs(t, rebuilt(r, err), ErrNoRoom)
		c.makeRoom(1)
		require.True(t, c.fence(r, 3))
	})
	t.Run("the ring has changed", func(t *testing.T) {
		c := newCluster(t, 3)
		r := c.rot(1)
		c.fence(r, 2, 3)
		c.show(r, 2, 3)
		c.process(1).learn(NewConfig(2, []uint16{1, 2, 3}, nil))
		require.ErrorIs(t, rebuilt(r, r.Finish()), ErrNotNow)
		_, err := adopt(c.process(2).acceptor, 2)
		require.NoError(t, err)
		current, err := fence(c.process(2).acceptor, 1, rival(1))
		require.NoError(t, err)
		require.False(t, current)
	})
}
