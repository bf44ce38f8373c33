package route

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/protocol/answer"
	"github.com/quolldb/quoll/ring"
)

func TestWriteGoesToTheHome(t *testing.T) {
	t.Parallel()
	f := startRing(t, 5)
	c := f.coordinator(patient)
	for home := uint16(1); home <= 5; home++ {
		f.forget()
		key := f.key(home)
		require.Equal(t, []string{"+OK\r\n"}, texts(run(t, c, set(key, "v"))))
		require.Equal(t, []string{(&request{node: f.nodes[home-1], Op: executeOp(key)}).String()}, f.seen())
	}
	require.Zero(t, c.Stats().Retries.Load())
}

func TestWriteFollowsAHint(t *testing.T) {
	t.Parallel()
	f := startRing(t, 3)
	c := f.coordinator(patient)
	key := f.key(1)
	f.play(func(r *request) {
		if r.isWrite() && r.node.id != 3 {
			r.notDone(answer.OtherHome, 3)
			return
		}
		f.answer(r)
	})
	require.Equal(t, []string{"+OK\r\n"}, texts(run(t, c, set(key, "v"))))
	require.Equal(t, []string{"1:execute " + key, "3:execute!1 " + key}, f.seen())

	f.forget() // it is remembered, and reads ask it for the value
	require.Equal(t, []string{"+OK\r\n"}, texts(run(t, c, set(key, "w"))))
	require.Equal(t, []string{"3:execute " + key}, f.seen())
	f.forget()
	require.Equal(t, []string{"$1\r\nw\r\n"}, texts(run(t, c, get(key))))
	require.Contains(t, f.seen(), "3:value "+key)
}

// A hint to a member that this proxy cannot reach makes the one that gave it take over.
func TestWriteWithAHintThatCannotBeFollowed(t *testing.T) {
	t.Parallel()
	f := startRing(t, 3)
	c := f.coordinator(patient)
	key := f.key(1)
	f.nodes[2].setDown(true)
	f.awaitUp(c, 2)
	f.play(func(r *request) {
		if r.Except == 3 {
			f.answer(r)
			return
		}
		r.notDone(answer.OtherHome, 3)
	})
	require.Equal(t, []string{"+OK\r\n"}, texts(run(t, c, set(key, "v"))))
	require.Equal(t, []string{"1:execute " + key, "1:execute!3 " + key}, f.seen())
	f.forget()
	f.play(func(r *request) {
		if r.Except == 77 {
			f.answer(r)
			return
		}
		r.notDone(answer.OtherHome, 77) // a stranger
	})
	require.Equal(t, []string{"+OK\r\n"}, texts(run(t, c, set(key, "v"))))
}

// Members that point to each other do so in vain: one of them has to execute it in the end.
func TestWriteThatIsSentInACircle(t *testing.T) {
	t.Parallel()
	f := startRing(t, 3)
	c := f.coordinator(patient)
	key := f.key(1, 2, 3)
	f.play(func(r *request) {
		if r.Except == protocol.AllOthers {
			f.answer(r)
			return
		}
		r.notDone(answer.OtherHome, r.node.id%3+1)
	})
	require.Equal(t, []string{"+OK\r\n"}, texts(run(t, c, set(key, "v"))))
	require.Equal(t, []string{"1:execute " + key, "2:execute!1 " + key, "3:execute!2 " + key, "1:execute!3 " + key}, f.seen()[:4])
}

func TestWriteIsRetriedUntilTheTimeOut(t *testing.T) {
	t.Parallel()
	for name, reason := range map[string]answer.Reason{"epoch changed": answer.EpochChanged, "lost term": answer.LostTerm} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := startRing(t, 3)
			c := f.coordinator(time.Second)
			key := f.key(1)
			f.play(func(r *request) { r.notDone(reason, 0) })
			began := time.Now()
			require.Equal(t, []string{refused(ErrTimeout)}, texts(run(t, c, set(key, "v"))))
			require.GreaterOrEqual(t, time.Since(began), time.Second)
			attempts := len(f.seen())
			require.Greater(t, attempts, 3)
			require.Less(t, attempts, 80, "with pauses that grow")

			refusals := 3
			f.play(func(r *request) {
				if refusals--; refusals >= 0 {
					r.notDone(reason, 0)
					return
				}
				f.answer(r)
			})
			require.Equal(t, []string{"+OK\r\n"}, texts(run(t, c, set(key, "v"))))
		})
	}
}

func TestWriteWithoutQuorumAtTheHome(t *testing.T) {
	t.Parallel()
	f := startRing(t, 3)
	c := f.coordinator(time.Second)
	f.play(func(r *request) { r.notDone(answer.NoQuorum, 0) })
	require.Equal(t, []string{refused(ErrNoMajority)}, texts(run(t, c, set("k", "v"))))
}

// TestFullNodes: one costs nothing, all of them are an error, and nobody is asked twice.
func TestFullNodes(t *testing.T) {
	t.Parallel()
	f := startRing(t, 5)
	c := f.coordinator(patient)
	for full := 0; full <= 3; full++ {
		key := f.keys(4, 1)[full]
		replicas := f.table.Replicas(ring.SlotOf([]byte(key)))
		f.forget()
		f.play(func(r *request) {
			if slices.Contains(replicas[:full], r.node.id) && r.isWrite() {
				r.notDone(answer.StorageFull, 0)
				return
			}
			f.answer(r)
		})
		began := time.Now()
		want := "+OK\r\n"
		if full == 3 {
			want = refused(ErrStorageFull)
		}
		require.Equal(t, []string{want}, texts(run(t, c, set(key, "v"))))
		require.Less(t, time.Since(began), patient/2)
		require.Len(t, f.seen(), min(full+1, 3))
	}
}

func TestFinalRefusals(t *testing.T) {
	t.Parallel()
	f := startRing(t, 3)
	c := f.coordinator(patient)
	for reason, want := range map[answer.Reason]error{
		answer.Expired: ErrTimeout,
	} {
		f.forget()
		f.play(func(r *request) { r.notDone(reason, 0) })
		began := time.Now()
		require.Equal(t, []string{refused(want)}, texts(run(t, c, set("k", "v"))))
		require.Less(t, time.Since(began), patient/2)
		require.Len(t, f.seen(), 1)
	}
}

// A home that cannot execute anything leaves its slots to the next: it may be cut off
// from the other replicas but not from this proxy.
func TestWriteAtAHomeThatIsUnable(t *testing.T) {
	t.Parallel()
	f := startRing(t, 3)
	c := f.coordinator(patient)
	for _, reason := range []answer.Reason{answer.NotMember, answer.StorageFailed, answer.NotVoting, answer.NoQuorum} {
		f.forget()
		c.ring.Load().homes[slotOfKey(f.key(1, 2, 3))].Store(0)
		f.play(func(r *request) {
			if r.node.id == 1 {
				r.notDone(reason, 0)
				return
			}
			f.answer(r)
		})
		key := f.key(1, 2, 3)
		require.Equal(t, []string{"+OK\r\n"}, texts(run(t, c, set(key, "v"))))
		require.Equal(t, []string{"1:execute " + key, "2:execute!1 " + key}, f.seen())
	}
}

func TestUnknownOutcomeFromTheHome(t *testing.T) {
	t.Parallel()
	f := startRing(t, 3)
	c := f.coordinator(patient)
	f.play((*request).unknown)
	require.Equal(t, []string{unknownOutcome}, texts(run(t, c, set("k", "v"))))
	require.Len(t, f.seen(), 1)

	f.forget() // nor may a write be sent again after an answer that makes no sense
	f.play((*request).askHome)
	require.Equal(t, []string{unknownOutcome}, texts(run(t, c, set("k", "v"))))
	require.Len(t, f.seen(), 1)
}

func TestConnectionLostWithAWriteInFlight(t *testing.T) {
	t.Parallel()
	f := startRing(t, 3)
	c := f.coordinator(patient)
	key := f.key(2)
	arrived := make(chan *request, 10)
	f.play(func(r *request) { arrived <- r })
	began := time.Now()
	result := runLater(t, c, set(key, "v"))
	<-arrived
	f.nodes[1].cut()
	require.Equal(t, []string{unknownOutcome}, texts(<-result))
	require.Less(t, time.Since(began), patient/2, "at once")
	require.Len(t, f.seen(), 1, "and it is sent to nobody else")
}

func TestSilentHomeWithAWriteInFlight(t *testing.T) {
	t.Parallel()
	f := startRing(t, 3)
	c := f.suspicious(2000 * time.Millisecond)
	key, other := f.keys(2, 2)[0], f.keys(2, 2)[1]
	arrived := make(chan *request, 10)
	f.play(func(r *request) {
		if r.node.id == 2 {
			arrived <- r
			return
		}
		f.answer(r)
	})
	began := time.Now()
	write := runLater(t, c, set(key, "v"))
	read := runLater(t, c, get(other))
	<-arrived
	<-arrived
	f.nodes[1].freeze()
	require.Equal(t, []string{"$-1\r\n"}, texts(<-read))
	require.Less(t, time.Since(began), 1900*time.Millisecond, "at the suspicion")
	require.Equal(t, []string{unknownOutcome}, texts(<-write))
	require.GreaterOrEqual(t, time.Since(began), 2000*time.Millisecond, "not before the time-out")

	f.forget() // another member takes over what comes now, at once
	began = time.Now()
	require.Equal(t, []string{"+OK\r\n"}, texts(run(t, c, set(key, "w"))))
	require.Less(t, time.Since(began), 2*time.Second)
	require.Contains(t, f.seen()[0], ":execute!2 ")
	f.nodes[1].thaw()
}

// The link does not take a frame: nobody has got it, so it goes to the next home.
func TestWriteThatWasNotSentGoesElsewhere(t *testing.T) {
	t.Parallel()
	f := startRing(t, 3)
	c := f.coordinator(patient)
	key := f.key(1, 2, 3)
	l := c.ring.Load().node(1)
	f.nodes[0].setDown(true)
	f.awaitUp(c, 2)
	f.forget()
	l.down.Store(false) // as in the moment before the end of the connection is noticed
	l.up.Store(true)
	result := runLater(t, c, set(key, "v"), set(key, "w"))
	eventually(t, func() bool { return c.Stats().Retries.Load() > 0 }, "the link refuses")
	l.state(0)
	require.Equal(t, []string{"+OK\r\n", "+OK\r\n"}, texts(<-result))
	require.Equal(t, []string{"2:execute!1 " + key, "2:execute " + key}[:1], f.seen()[:1])
	require.Len(t, f.seen(), 2)
}

// After a take-over the new home stays the home until it hands back.
func TestHomeIsSticky(t *testing.T) {
	t.Parallel()
	f := startRing(t, 3)
	c := f.coordinator(patient)
	key := f.key(1, 2, 3)
	f.nodes[0].setDown(true)
	f.awaitUp(c, 2)
	require.Equal(t, []string{"+OK\r\n"}, texts(run(t, c, set(key, "v"))))
	f.nodes[0].setDown(false)
	f.awaitUp(c, 3)
	require.Equal(t, []string{"+OK\r\n"}, texts(run(t, c, set(key, "w"))))
	require.Equal(t, []string{"2:execute!1 " + key, "2:execute " + key}, f.seen())

	f.forget()
	f.play(func(r *request) {
		if r.isWrite() && r.node.id == 2 {
			r.notDone(answer.OtherHome, 1) // handed back
			return
		}
		f.answer(r)
	})
	require.Equal(t, []string{"+OK\r\n"}, texts(run(t, c, set(key, "x"))))
	require.Equal(t, []string{"+OK\r\n"}, texts(run(t, c, set(key, "y"))))
	require.Equal(t, []string{"2:execute " + key, "1:execute!2 " + key, "1:execute " + key}, f.seen())
}
