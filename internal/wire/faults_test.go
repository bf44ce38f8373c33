//go:build faults

package wire

import (
	"encoding/binary"
	"fmt"
	"math"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/pipes"
)

// typeRepeat is a type that the echo server's protocol allows to arrive twice and in
// any order.
const typeRepeat = FirstFrameType + 2

func init() { RepeatableFrames(typeRepeat) }

// inject makes rules until the test ends.
func inject(t testing.TB, seed uint64, rules ...FaultRule) {
	t.Cleanup(func() {
		InjectFaults(0, nil)
		forget()
	})
	InjectFaults(seed, rules)
}

// forget forgets who was met, as a new process has.
func forget() {
	met.Lock()
	defer met.Unlock()
	met.at, met.connections = map[string]faultPeer{}, map[string]uint64{}
}

// counters returns what the first rule did.
func counters(t testing.TB) FaultCounters {
	_, rules := InjectedFaults()
	require.NotEmpty(t, rules)
	return rules[0].FaultCounters
}

// faulty connects a link to an echo server, in a bubble.
func faulty(t testing.TB) (*observed, *echo) {
	listener, handler := pipes.Listen(), newEcho()
	serve(t, listener, ServerConfig{Handler: handler})
	link := connect(t, LinkConfig{Dial: listener.Dial, Address: "server", DeadAfter: time.Hour})
	<-link.up
	<-handler.opened
	return link, handler
}

// send sends n numbered frames one by one.
func (o *observed) send(t testing.TB, typ FrameType, n int) {
	for i := range n {
		require.NoError(t, o.SendFrames(appendFrame(nil, typ, fmt.Append(nil, i))))
	}
}

// received returns what has come.
func (o *observed) received() (frames []string) {
	for len(o.frames) > 0 {
		frames = append(frames, <-o.frames)
	}
	return frames
}

// numbers are the bodies that send sends.
func numbers(n int) (bodies []string) {
	for i := range n {
		bodies = append(bodies, fmt.Sprint(i))
	}
	return bodies
}

func TestDelayIsAPipeWithLatency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		link, _ := faulty(t)
		inject(t, 1, FaultRule{Peer: "server", Delay: 20 * time.Millisecond})
		began := time.Now()
		for range 10 { // many are on their way at the same time
			link.send(t, typeEcho, 1)
			time.Sleep(time.Millisecond)
		}
		<-link.frames
		require.Equal(t, 20*time.Millisecond, time.Since(began))
		for range 9 {
			<-link.frames
		}
		require.Equal(t, 29*time.Millisecond, time.Since(began))
		require.GreaterOrEqual(t, counters(t).Delayed, uint64(10))
	})
}

func TestJitterKeepsTheOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		link, _ := faulty(t)
		inject(t, 1, FaultRule{Peer: "dialer", Role: RoleProxy, Jitter: 30 * time.Millisecond})
		began := time.Now()
		link.send(t, typeRepeat, 100)
		require.Equal(t, "0", <-link.frames)
		require.Less(t, time.Since(began), 30*time.Millisecond)
		time.Sleep(30 * time.Millisecond)
		synctest.Wait()
		require.Equal(t, numbers(100)[1:], link.received())
	})
}

func TestDropFollowsFromTheSeed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		arrived := map[uint64][]string{}
		for _, seed := range []uint64{1, 1, 2} {
			inject(t, seed, FaultRule{Peer: "*", Role: RoleNode, Drop: 0.5})
			forget()
			link, _ := faulty(t)
			link.send(t, typeEcho, 100)
			synctest.Wait()
			frames := link.received()
			require.InDelta(t, 50, len(frames), 20)
			require.EqualValues(t, 100-len(frames), counters(t).Dropped)
			if before, again := arrived[seed]; again {
				require.Equal(t, before, frames)
			}
			arrived[seed] = frames
			link.Close()
		}
		require.NotEqual(t, arrived[1], arrived[2])
	})
}

func TestOnlyRepeatableFramesAreRepeatedAndReordered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		link, _ := faulty(t)
		inject(t, 1, FaultRule{Peer: "server", Duplicate: 1, Reorder: 1})
		link.send(t, typeEcho, 100)
		time.Sleep(time.Second)
		synctest.Wait()
		require.Equal(t, numbers(100), link.received())
		require.Zero(t, counters(t).Duplicated+counters(t).Reordered)

		link.send(t, typeRepeat, 100)
		time.Sleep(time.Second)
		synctest.Wait()
		frames := link.received()
		require.Len(t, frames, 200)
		require.Subset(t, frames, numbers(100))
		require.NotEqual(t, numbers(100), frames[:100])
		require.EqualValues(t, 100, counters(t).Duplicated)
		require.EqualValues(t, 100, counters(t).Reordered)
	})
}

func TestAllFaultsTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		link, _ := faulty(t)
		inject(t, 7, FaultRule{
			Peer: "*", Delay: 5 * time.Millisecond, Jitter: 10 * time.Millisecond, Drop: 0.1, Duplicate: 0.2, Reorder: 0.2,
		})
		for i := range 300 {
			link.send(t, typeRepeat, 1)
			require.NoError(t, link.SendFrames(appendFrame(nil, typeEcho, binary.BigEndian.AppendUint16(nil, uint16(i)))))
			time.Sleep(time.Millisecond)
		}
		InjectFaults(0, nil)
		time.Sleep(time.Second)
		synctest.Wait()
		before, ordered, repeated := -1, 0, 0
		for _, body := range link.received() {
			if len(body) == 1 {
				repeated++
				continue
			}
			number := int(binary.BigEndian.Uint16([]byte(body)))
			require.Greater(t, number, before, "once, and in order")
			before = number
			ordered++
		}
		require.InDelta(t, 300*0.9*0.9, ordered, 40)
		require.InDelta(t, 300*0.9*0.9*1.2*1.2, repeated, 60)
		require.Equal(t, Up, link.State())
	})
}

func TestFirstRuleThatMatchesCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		link, _ := faulty(t)
		inject(t, 1,
			FaultRule{Peer: "server", Role: RoleProxy, Cut: true},
			FaultRule{Peer: "other", Cut: true},
			FaultRule{Peer: "server", Role: RoleNode, Delay: time.Millisecond},
			FaultRule{Peer: "*", Role: RoleNode, Cut: true})
		link.send(t, typeEcho, 1)
		require.Equal(t, "0", <-link.frames)
		seed, rules := InjectedFaults()
		require.EqualValues(t, 1, seed)
		for i, want := range []uint64{0, 0, 1, 0} {
			require.Equal(t, want, rules[i].Passed, i)
			require.Zero(t, rules[i].Dropped, i)
		}
	})
}

func TestHeldFramesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		listener := pipes.Listen()
		serve(t, listener, ServerConfig{})
		link := connect(t, LinkConfig{Dial: listener.Dial, Options: Options{MaxPending: 1 << 20}, DeadAfter: time.Hour})
		<-link.up
		inject(t, 1, FaultRule{Peer: "server", Delay: time.Second})
		one := appendFrame(nil, typeEcho, make([]byte, 100<<10))
		sent := 0
		for ; link.SendFrames(one) == nil; sent++ {
			require.Less(t, sent, 12)
			synctest.Wait() // for the writer, who takes it
		}
		require.Equal(t, 11, sent)
		require.EqualValues(t, 11*len(one), counters(t).HeldBytes)
		require.ErrorIs(t, link.SendFrames(one), ErrBacklog)

		for range sent {
			require.Len(t, <-link.frames, 100<<10)
		}
		synctest.Wait()
		require.NoError(t, link.SendFrames(one), "there is room again")
		synctest.Wait()
		require.GreaterOrEqual(t, counters(t).HeldBytes, int64(len(one)))
		link.Close()
		require.Zero(t, counters(t).HeldBytes, "what is held goes with the connection")
	})
}

func TestShutdownWritesWhatIsHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		listener, handler := pipes.Listen(), newEcho()
		server := serve(t, listener, ServerConfig{Handler: handler})
		link := connect(t, LinkConfig{Dial: listener.Dial})
		<-link.up
		inject(t, 1, FaultRule{Peer: "dialer", Delay: time.Second})
		link.send(t, typeEcho, 10)
		synctest.Wait()
		began := time.Now()
		server.Shutdown(t.Context())
		require.Equal(t, time.Second, time.Since(began))
		synctest.Wait()
		require.Equal(t, numbers(10), link.received())
	})
}

func TestHealingLetsGoOfWhatIsHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		link, _ := faulty(t)
		inject(t, 1, FaultRule{Peer: "server", Delay: time.Minute})
		link.send(t, typeEcho, 10)
		synctest.Wait()
		require.Empty(t, link.frames)
		InjectFaults(0, nil)
		time.Sleep(100 * time.Millisecond) // a ping is sent
		synctest.Wait()
		require.Equal(t, numbers(10), link.received())
		link.send(t, typeEcho, 1)
		synctest.Wait()
		require.Equal(t, numbers(1), link.received())
	})
}

// TestRulesChangeUnderLoad is for the race detector.
func TestRulesChangeUnderLoad(t *testing.T) {
	listener := loopback(t)
	inject(t, 1)
	serve(t, listener, ServerConfig{})
	var links []*observed
	for range 3 {
		links = append(links, connect(t, LinkConfig{Address: listener.Addr().String()}))
		<-links[len(links)-1].up
	}
	var stopped atomic.Bool
	changed := make(chan struct{})
	go func() {
		defer close(changed)
		for seed := uint64(0); !stopped.Load(); seed++ {
			InjectFaults(seed, []FaultRule{{Peer: "*", Jitter: time.Millisecond, Drop: 0.1, Duplicate: 0.1, Reorder: 0.1}})
			InjectedFaults()
			InjectFaults(0, nil)
		}
	}()
	for range 300 {
		for _, link := range links {
			link.send(t, typeEcho, 1)
			link.send(t, typeRepeat, 1)
			link.received()
		}
	}
	stopped.Store(true)
	<-changed
	InjectFaults(0, nil)
	for _, link := range links {
		last := fmt.Sprint(math.Pi)
		require.NoError(t, link.SendFrames(appendFrame(nil, typeEcho, []byte(last))))
		for frame := ""; frame != last; frame = <-link.frames {
			require.Empty(t, link.down)
		}
	}
}
