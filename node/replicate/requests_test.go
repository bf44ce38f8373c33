package replicate

import (
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/wire"
	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/register"
	"github.com/quolldb/quoll/node/replica"
	"github.com/quolldb/quoll/ring"
)

// bubble runs a test under virtual time.
func bubble(t *testing.T, test func(t *testing.T)) { synctest.Test(t, test) }

// TestEveryRequestOfAFrameIsAnswered, in order, whether it fills its last group or not.
func TestEveryRequestOfAFrameIsAnswered(t *testing.T) {
	for _, count := range []int{1, replica.GroupSize - 1, replica.GroupSize, replica.GroupSize + 1, 3*replica.GroupSize + 5} {
		t.Run(fmt.Sprint(count), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				n := running(t, "a")
				var requests []*register.Message
				for i := range count {
					requests = append(requests, accept(uint16(i*37), fmt.Sprint("key", i), 1, 10+i))
				}
				answers := homeAt(t, n, "b").ask(requests...)
				require.Len(t, answers, count)
				for i, m := range answers {
					require.Equal(t, register.OK, m.Result)
					require.Equal(t, fmt.Sprint("key", i), string(m.Key))
					rec, found, err := n.engine.Get(uint16(i*37), m.Key)
					require.NoError(t, err)
					require.True(t, found)
					require.Len(t, rec.State.Value, 10+i)
				}
				require.EqualValues(t, count, n.metrics.Accepts.Value())
			})
		})
	}
}

// TestAVoteLeavesWhenItIsDurable, and not before (R2).
func TestAVoteLeavesWhenItIsDurable(t *testing.T) {
	bubble(t, func(t *testing.T) {
		n := running(t, "a")
		h := homeAt(t, n, "b")
		n.engine.hold.Store(true)
		require.Empty(t, h.ask(accept(3, "k", 1, 10)))
		n.engine.release()
		synctest.Wait()
		require.Len(t, h.answers, 1)
	})
}

// TestOnlyMembersOfTheRingAreGivenVotes: nobody is who is no member, or is not the process any more that the ring names; and this node gives none
// while it is of no ring (R19).
func TestOnlyMembersOfTheRingAreGivenVotes(t *testing.T) {
	for name, tt := range map[string]struct {
		hello   wire.Hello
		outside bool // this node has not entered
		votes   bool
	}{
		"a member":           {hello: wire.Hello{Role: wire.RoleNode, Name: "b"}, votes: true},
		"a stranger":         {hello: wire.Hello{Role: wire.RoleNode, Name: "x"}},
		"who lost its state": {hello: wire.Hello{Role: wire.RoleNode, Name: "b", Properties: map[string]string{"another life": "!"}}},
		"before the ring is": {hello: wire.Hello{Role: wire.RoleNode, Name: "b"}, outside: true},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				n := start(t, "a")
				if !tt.outside {
					n.host.Enter(n.view)
				}
				answers := homeOf(t, n, tt.hello).ask(accept(3, "k", 1, 10))
				_, found, err := n.engine.Get(3, []byte("k"))
				require.NoError(t, err)
				require.Equal(t, tt.votes, found, "what is in the store")
				require.Equal(t, tt.votes, len(answers) == 1)
				require.Equal(t, tt.votes, n.metrics.RefusedNoVote.Value() == 0)
			})
		})
	}
}

// TestANodeWhoseStoreFailedGivesNoVotes, and says nothing of what it holds.
func TestANodeWhoseStoreFailedGivesNoVotes(t *testing.T) {
	bubble(t, func(t *testing.T) {
		n := running(t, "a")
		h := homeAt(t, n, "b")
		n.host.StorageFailed(fmt.Errorf("broken"))
		require.Empty(t, h.ask(accept(3, "k", 1, 10)))
		require.EqualValues(t, 1, n.metrics.RefusedNoVote.Value())
	})
}

// TestWhatMakesNoSense ends a frame with an error. What came whole before it is executed: its sender is a member.
func TestWhatMakesNoSense(t *testing.T) {
	bubble(t, func(t *testing.T) {
		n := running(t, "a")
		h := homeAt(t, n, "b")
		whole := protocol.AppendRequest(nil, accept(3, "k", 1, 10))
		h.send(protocol.FrameReplicate, append(whole, whole[:len(whole)-1]...))
		require.Error(t, <-n.errors)
		synctest.Wait()
		require.Len(t, h.answers, 1)
	})
}

// TestASlotThatIsNoneIsNotAnswered, and what comes with it is.
func TestASlotThatIsNoneIsNotAnswered(t *testing.T) {
	bubble(t, func(t *testing.T) {
		answers := homeAt(t, running(t, "a"), "b").ask(accept(1, "first", 1, 10), accept(ring.Slots, "none", 1, 10), accept(2, "last", 1, 10))
		require.Len(t, answers, 2)
		require.Equal(t, "first", string(answers[0].Key))
		require.Equal(t, "last", string(answers[1].Key))
	})
}

// TestRefusalsAreCounted by their reason.
func TestRefusalsAreCounted(t *testing.T) {
	bubble(t, func(t *testing.T) {
		n := running(t, "a")
		h := homeAt(t, n, "b")
		require.Equal(t, register.OK, h.ask(accept(3, "k", 1, 10))[0].Result)
		earlier := accept(3, "k", 1, 10)
		earlier.Ballot.Counter--
		earlier.Version.Ballot = earlier.Ballot
		require.Equal(t, register.StaleBallot, h.ask(earlier)[0].Result)
		former := accept(3, "k", 2, 10)
		former.Epoch--
		require.Equal(t, register.StaleEpoch, h.ask(former)[0].Result)
		unknown := accept(3, "k", 3, 0)
		unknown.IsDelta, unknown.Base, unknown.Delta = true, accept(3, "k", 2, 0).Version, record.Patch{Bytes: []byte("x")}.Append(nil)
		require.Equal(t, register.NeedFull, h.ask(unknown)[0].Result)
		require.EqualValues(t, 1, n.metrics.Accepts.Value())
		require.EqualValues(t, 1, n.metrics.RefusedBallot.Value())
		require.EqualValues(t, 1, n.metrics.RefusedEpoch.Value())
	})
}

// TestABrimfulNodeTakesNothingThatGrows from other homes: it is as if it had been lost. What lets it have room again some day, it takes.
func TestABrimfulNodeTakesNothingThatGrows(t *testing.T) {
	patch := func(at int) *register.Message {
		delta := accept(3, "k", 2, 10)
		delta.IsDelta, delta.Base, delta.Delta = true, accept(3, "k", 1, 0).Version, record.Patch{At: at, Bytes: []byte("x")}.Append(nil)
		return delta
	}
	unknown := patch(100)
	unknown.Base.Seq++
	empty := accept(3, "another", 2, 0)
	empty.State.Type = record.String
	for name, tt := range map[string]struct {
		request *register.Message
		taken   bool
	}{
		"another key":    {accept(3, "another", 2, 10), false},
		"an empty value": {empty, false},
		"a longer value": {accept(3, "k", 2, 101), false},
		"as long":        {accept(3, "k", 2, 100), true},
		"a delta":        {patch(3), true},
		"that grows":     {patch(100), false},
		"of another":     {unknown, true}, // which is answered with NeedFull
		"a deletion":     {accept(3, "k", 2, 0), true},
		"of another key": {accept(3, "another", 2, 0), true},
		"a question":     {&register.Message{Kind: register.Confirm, Slot: 3, Epoch: cluster.Epoch, Ballot: ballot}, true},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				n := running(t, "a")
				n.meet(t, "b", "c")
				h := homeAt(t, n, "b")
				require.Len(t, h.ask(accept(3, "k", 1, 100)), 1)
				n.engine.room = fmt.Errorf("%w: it is a test", engine.ErrBrimful)
				require.Equal(t, tt.taken, len(h.ask(tt.request)) == 1)
				_, found, err := n.engine.Get(3, []byte("another"))
				require.NoError(t, err)
				require.Equal(t, tt.taken && string(tt.request.Key) == "another", found)
				h.send(protocol.FramePiece, piece(7, 100, 0, make([]byte, 100)))
				synctest.Wait()
				require.Zero(t, n.Incoming().Used(), "a large value has come")
			})
		})
	}
}

// TestABrimfulNodeTakesWhatGrows if the others are no majority without it, or have no room themselves: what still comes is of a command that has to be done.
func TestABrimfulNodeTakesWhatGrows(t *testing.T) {
	bubble(t, func(t *testing.T) {
		n := running(t, "a")
		n.engine.room = fmt.Errorf("%w: it is a test", engine.ErrBrimful)
		h := homeAt(t, n, "b")
		n.meet(t, "b")
		require.Len(t, h.ask(accept(3, "one", 1, 100)), 1, "c is away")
		others := n.meet(t, "c")
		require.Empty(t, h.ask(accept(3, "two", 2, 100)))
		require.NoError(t, others[0].opened[0].SendFrames(wire.EndFrame(append(wire.BeginFrame(nil, protocol.FrameFull), protocol.OnlyCrowded), 0)))
		synctest.Wait()
		require.Len(t, h.ask(accept(3, "three", 3, 100)), 1)
	})
}

// TestACrowdedNodeTakesWhatOthersWrote: they have room.
func TestACrowdedNodeTakesWhatOthersWrote(t *testing.T) {
	bubble(t, func(t *testing.T) {
		n := running(t, "a")
		h := homeAt(t, n, "b")
		n.engine.room = fmt.Errorf("%w: it is a test", engine.ErrCrowded)
		require.Len(t, h.ask(accept(3, "k", 1, 100)), 1)
	})
}

// piece returns the body of a frame with a piece of a string of so many bytes.
func piece(id uint64, size, offset int, bytes []byte) []byte {
	return append(protocol.AppendPieceHead(nil, &protocol.Piece{ID: id, Type: record.String, Plain: true, Size: size, Offset: offset}), bytes...)
}

// TestAWriteHasItsObject when all of its pieces came on its connection, and is as if it had been lost otherwise. What did not fit costs its sender nothing else.
func TestAWriteHasItsObject(t *testing.T) {
	const size = 1000
	value := make([]byte, size)
	for name, tt := range map[string]struct {
		pieces [][]byte
		limit  int64
		taken  bool
	}{
		"it came whole":      {pieces: [][]byte{piece(7, size, 0, value[:400]), piece(7, size, 400, value[400:])}, taken: true},
		"its end is missing": {pieces: [][]byte{piece(7, size, 0, value[:400])}},
		"it is another":      {pieces: [][]byte{piece(8, size, 0, value)}},
		"it does not fit":    {pieces: [][]byte{piece(7, size, 0, value)}, limit: size - 1},
		"it just fits":       {pieces: [][]byte{piece(7, size, 0, value)}, limit: size, taken: true},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				n := running(t, "a")
				if tt.limit > 0 {
					n.Incoming().Limit = tt.limit
				}
				h := homeAt(t, n, "b")
				for _, body := range tt.pieces {
					h.send(protocol.FramePiece, body)
				}
				m := accept(3, "k", 1, size)
				h.send(protocol.FrameReplicate, protocol.AppendRequest(protocol.AppendRequestAhead(nil, m, 7), accept(3, "other", 2, 10)))
				synctest.Wait()
				var keys []string
				for _, a := range h.answers {
					keys = append(keys, string(a.Key))
				}
				if tt.taken {
					require.Equal(t, []string{"k", "other"}, keys)
				} else {
					require.Equal(t, []string{"other"}, keys, "what came with it is executed")
				}
				require.Equal(t, tt.taken, n.metrics.ObjectsLost.Value() == 0)
				require.Empty(t, n.errors, "the connection goes on")
				h.link.Close()
				synctest.Wait()
				require.Zero(t, n.Incoming().Used(), "the connection has ended")
			})
		})
	}
}

// TestAPieceThatIsNone is an error.
func TestAPieceThatIsNone(t *testing.T) {
	bubble(t, func(t *testing.T) {
		o := running(t, "a").Objects()
		require.Error(t, o.Piece([]byte{1}))
		require.NoError(t, o.Piece(piece(7, 100, 50, make([]byte, 10))), "its beginning may have been lost")
	})
}
