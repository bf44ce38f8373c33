package route

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/protocol/answer"
)

func TestReadIsAnsweredByAMajorityThatAgrees(t *testing.T) {
	t.Parallel()
	f := startRing(t, 3)
	c := f.coordinator(patient)
	key := f.key(2)
	f.play(func(r *request) { r.vote(7, "$1\r\nv\r\n") })
	require.Equal(t, []string{"$1\r\nv\r\n"}, texts(run(t, c, get(key))))
	seen := f.seen()
	require.Len(t, seen, 2)
	require.Contains(t, seen, "2:value "+key, "the home is asked for the value")
	require.EqualValues(t, 1, c.Stats().QuorumReads.Load())

	f.play(func(r *request) { r.vote(0, "$-1\r\n") }) // never written
	require.Equal(t, []string{"$-1\r\n"}, texts(run(t, c, get(key))))
}

// TestReadIsAnsweredNearby: a replica in the rack of the proxy is asked for the value, and the home for its version. If these differ the home executes it.
func TestReadIsAnsweredNearby(t *testing.T) {
	t.Parallel()
	f := startRing(t, 3)
	c := startCoordinator(t, Config{OperationTimeout: patient, Seeds: []string{f.nodes[0].address()}, Rack: f.cluster.Members[2].Rack})
	f.awaitUp(c, 3)
	for home := range uint16(3) {
		key := f.key(home + 1)
		f.play(func(r *request) { r.vote(7, "$1\r\nv\r\n") })
		require.Equal(t, []string{"$1\r\nv\r\n"}, texts(run(t, c, get(key))))
		seen := f.seen()
		require.Len(t, seen, 2*int(home+1))
		require.Contains(t, seen, "3:value "+key)
		if home+1 != 3 {
			require.Contains(t, seen, fmt.Sprintf("%d:version %s", home+1, key))
		}
	}
	require.EqualValues(t, 3, c.Stats().QuorumReads.Load())
	for _, traffic := range []*Traffic{&c.Stats().OwnRack, &c.Stats().OtherRacks} {
		sent, received := traffic.Load()
		require.NotZero(t, sent)
		require.NotZero(t, received)
	}
	key := f.key(1)
	f.play(func(r *request) {
		if r.Kind == protocol.Execute {
			r.done("$1\r\nh\r\n")
			return
		}
		r.vote(map[uint16]uint64{1: 8, 3: 7}[r.node.id], "$1\r\nv\r\n")
	})
	require.Equal(t, []string{"$1\r\nh\r\n"}, texts(run(t, c, get(key))))
	require.Contains(t, f.seen(), "1:execute "+key)
}

func TestReadGoesToTheHomeWhenReplicasDiffer(t *testing.T) {
	t.Parallel()
	for name, votes := range map[string]func(*request){
		"home is newer":  func(r *request) { r.vote(map[uint16]uint64{1: 8}[r.node.id]+1, "$1\r\na\r\n") },
		"other is newer": func(r *request) { r.vote(map[uint16]uint64{2: 8, 3: 8}[r.node.id]+1, "$1\r\na\r\n") },
		"one has none":   func(r *request) { r.vote(map[uint16]uint64{1: 9}[r.node.id], "$1\r\na\r\n") },
		"expired": func(r *request) {
			if r.Kind == protocol.ReadValue {
				r.askHome()
			} else {
				r.vote(9, "")
			}
		},
		"all expired": (*request).askHome,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := startRing(t, 3)
			c := f.coordinator(patient)
			key := f.key(1)
			f.play(func(r *request) {
				if r.Kind == protocol.Execute {
					r.done("$1\r\nh\r\n")
					return
				}
				votes(r)
			})
			require.Equal(t, []string{"$1\r\nh\r\n"}, texts(run(t, c, get(key))))
			require.Contains(t, f.seen(), "1:execute "+key)
			require.EqualValues(t, 1, c.Stats().HomeReads.Load())
			require.Zero(t, c.Stats().QuorumReads.Load())
		})
	}
}

func TestReadAsksOthersWhenAVoterFails(t *testing.T) {
	t.Parallel()
	f := startRing(t, 3)
	c := f.coordinator(patient)
	for failing := uint16(1); failing <= 3; failing++ {
		f.play(func(r *request) {
			if r.node.id == failing {
				r.notDone(answer.StorageFailed, 0)
				return
			}
			r.vote(3, "$1\r\nv\r\n")
		})
		for _, home := range []uint16{1, 2, 3} {
			for _, key := range f.keys(10, home) {
				require.Equal(t, []string{"$1\r\nv\r\n"}, texts(run(t, c, get(key))), "%d fails, %d is the home", failing, home)
			}
		}
	}
}

func TestReadAsksOthersWhenANodeIsLost(t *testing.T) {
	t.Parallel()
	f := startRing(t, 3)
	c := f.suspicious(patient)
	key := f.key(1, 2, 3)
	for _, lose := range []func(){f.nodes[0].freeze, func() { f.nodes[0].setDown(true) }} {
		f.awaitUp(c, 3)
		require.Eventually(t, func() bool { return c.ring.Load().node(1).condition() == answers }, patient, time.Millisecond) // not slow any more
		held := make(chan *request, 100)
		f.play(func(r *request) {
			if r.node.id == 1 {
				held <- r
				return
			}
			r.vote(3, "$1\r\nv\r\n")
		})
		began := time.Now()
		result := runLater(t, c, get(key))
		<-held
		lose()
		require.Equal(t, []string{"$1\r\nv\r\n"}, texts(<-result))
		require.Less(t, time.Since(began), patient/2, "long before the time-out")
		f.nodes[0].thaw()
	}
}

// A vote that was asked for by an attempt that is over does no harm.
func TestReadWithLateVotes(t *testing.T) {
	t.Parallel()
	f := startRing(t, 3)
	c := f.coordinator(patient)
	key := f.key(1, 2, 3)
	late := make(chan *request, 1)
	f.play(func(r *request) {
		switch {
		case r.Kind == protocol.ReadValue && r.node.id == 1:
			late <- r // its vote comes when it is asked as the home
		case r.Kind == protocol.Execute:
			select {
			case vote := <-late:
				vote.vote(1, "$1\r\nx\r\n")
			default:
			}
			r.done("$1\r\nh\r\n")
		case r.Kind == protocol.ReadVersion:
			r.askHome()
		}
	})
	require.Equal(t, []string{"$1\r\nh\r\n"}, texts(run(t, c, get(key))))
}
