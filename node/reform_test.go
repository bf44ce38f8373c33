package node

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/admin"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/node/membership"
)

// lives starts nodes anew when they have given up their ring, as their owner does it.
type lives struct {
	*testCluster
	begin chan newLife
	know  map[string]membership.Forgotten
}

// newLife is what a node asks its owner for.
type newLife struct {
	name string
	f    membership.Forgotten
}

func newLives(t *testing.T, size int) *lives {
	l := &lives{testCluster: newTestCluster(t, size), begin: make(chan newLife, 100), know: map[string]membership.Forgotten{}}
	for _, m := range l.initial {
		l.start(m.Name, l.change)
	}
	l.connected()
	return l
}

func (l *lives) change(o *Options) {
	o.Forgotten = l.know[o.Name]
	o.Reform = func(f membership.Forgotten) { l.begin <- newLife{o.Name, f} }
}

// restart ends a node's process, and its data in memory with it.
func (l *lives) restart(names ...string) {
	l.t.Helper()
	for _, name := range names {
		l.stop(name)
		n := l.start(name, l.change)
		l.eventually(func() bool { return n.Self().State == admin.LostState })
	}
}

// anew does what the owners of so many nodes are asked for.
func (l *lives) anew(count int) {
	for range count {
		next := <-l.begin
		l.know[next.name] = next.f
		l.stop(next.name)
		l.start(next.name, l.change)
	}
}

// reformState asks a node what it would give up.
func (l *lives) reformState(name string) (s protocol.ReformState) {
	l.t.Helper()
	reply, begin, err := l.nodes[name].members.AnswerReform([]byte("{}"))
	require.NoError(l.t, err)
	require.Nil(l.t, begin)
	require.NoError(l.t, json.Unmarshal(reply, &s))
	return s
}

// giveUp tells a node to give up its ring, and returns what has it begin again.
func (l *lives) giveUp(name string, order protocol.ReformRequest) (begin func(), err error) {
	payload, err := json.Marshal(order)
	require.NoError(l.t, err)
	_, begin, err = l.nodes[name].members.AnswerReform(payload)
	return begin, err
}

func (l *lives) linked(asked string) {
	l.eventually(func() bool {
		for _, p := range l.nodes[asked].peers.All() {
			if !p.Up() {
				return false
			}
		}
		return true
	})
}

// TestAClusterThatLostAllFormsAgain: in memory, restarted one after the other. No ring that is left would ever vote.
func TestAClusterThatLostAllFormsAgain(t *testing.T) {
	t.Parallel()
	l := newLives(t, 3)
	cl := l.dial(l.nodes["a"])
	require.Equal(t, "+OK\r\n", string(cl.do("set k v").Reply))
	old := l.nodes["a"].replicas.View().Cluster
	l.restart("a", "b", "c")
	l.linked("b")

	report, err := l.nodes["b"].Reform(t.Context(), admin.ReformRequest{DryRun: true})
	require.NoError(t, err)
	require.False(t, report.Done)
	require.Empty(t, l.begin)

	report, err = l.nodes["b"].Reform(t.Context(), admin.ReformRequest{})
	require.NoError(t, err)
	require.True(t, report.Done)
	require.Len(t, report.Nodes, 3)
	l.anew(3)
	l.connected()
	formed := l.nodes["a"].replicas.View().Cluster
	require.Equal(t, old.Epoch+1, formed.Epoch, "whoever knows the old ring only is refused (R1)")
	require.EqualValues(t, formed.Epoch, report.Epoch)
	for _, m := range formed.Members {
		before, _ := old.ByName(m.Name)
		require.NotEqual(t, before.Generation, m.Generation)
	}
	cl = l.dial(l.nodes["a"])
	cl.epoch = formed.Epoch
	require.Equal(t, "$-1\r\n", string(cl.do("get k").Reply))
	require.Equal(t, "+OK\r\n", string(cl.do("set k w").Reply))
	cl.epoch = old.Epoch
	require.Equal(t, protocol.StatusNotDone, cl.one(op(protocol.ReadValue, "get k")).Status, "by the old ring")

	t.Run("and loses its state again like any other", func(t *testing.T) {
		l.restart("c")
		require.Equal(t, admin.Voting, l.nodes["a"].Self().State)
	})
}

// TestWhoVotesIsNotGivenUpByTheWay: one of three has all that was written.
func TestWhoVotesIsNotGivenUpByTheWay(t *testing.T) {
	t.Parallel()
	l := newLives(t, 3)
	require.Equal(t, "+OK\r\n", string(l.dial(l.nodes["a"]).do("set k v").Reply))
	l.eventually(func() bool { return l.nodes["c"].Self().Keys == 1 })
	voter := l.nodes["c"]
	l.restart("a", "b")
	for _, asked := range []string{"a", "c"} {
		l.linked(asked)
		_, err := l.nodes[asked].Reform(t.Context(), admin.ReformRequest{})
		require.ErrorContains(t, err, "c (1 keys, 2 bytes)")
		require.ErrorContains(t, err, "--accept-loss")
	}
	order := protocol.ReformRequest{Rings: l.reformState("c").Rings, Epoch: 1, Generation: voter.self().Generation}
	_, err := l.giveUp("c", order)
	require.ErrorContains(t, err, "it votes", "whoever asks")
	order.Generation++
	order.AcceptLoss = true
	_, err = l.giveUp("c", order)
	require.ErrorContains(t, err, "it was restarted meanwhile", "it was restarted meanwhile")
	order.Generation, order.Rings = voter.self().Generation, []uint64{7}
	_, err = l.giveUp("c", order)
	require.ErrorContains(t, err, "part of another ring")
	require.Empty(t, l.begin)
	require.Equal(t, admin.Voting, voter.Self().State)

	report, err := l.nodes["a"].Reform(t.Context(), admin.ReformRequest{AcceptLoss: true})
	require.NoError(t, err)
	require.True(t, report.Nodes[2].Voting)
	require.EqualValues(t, 1, report.Nodes[2].Keys)
	l.anew(3)
	l.connected()
	require.EqualValues(t, 0, l.nodes["c"].Self().Keys)
}

// TestWhatStopsReforming names what to do about it, and changes nothing.
func TestWhatStopsReforming(t *testing.T) {
	t.Parallel()
	t.Run("a node is down", func(t *testing.T) {
		l := newLives(t, 3)
		l.restart("a", "b")
		l.stop("c")
		l.eventually(func() bool { return l.nodes["a"].peers.Of(3).Down() })
		_, err := l.nodes["a"].Reform(t.Context(), admin.ReformRequest{AcceptLoss: true})
		require.ErrorContains(t, err, "node c does not answer")
		require.Empty(t, l.begin)
	})
	t.Run("nobody would start it anew", func(t *testing.T) {
		c := newFormed(t, 1, nil)
		_, err := c.nodes["a"].Reform(t.Context(), admin.ReformRequest{AcceptLoss: true})
		require.ErrorContains(t, err, "cannot begin again")
	})
	t.Run("data on disk", func(t *testing.T) {
		d := newDisks("a")
		c := newTestCluster(t, 1)
		n := c.start("a", func(o *Options) {
			d.use(o)
			o.Data, o.Reform = "/var/lib/quoll", func(membership.Forgotten) { panic("its files are there") }
		})
		c.formed()
		_, err := n.Reform(t.Context(), admin.ReformRequest{AcceptLoss: true})
		require.ErrorContains(t, err, "move its data directory /var/lib/quoll away")
	})
	t.Run("a proxy asks", func(t *testing.T) {
		c := newFormed(t, 1, func(o *Options) { o.Reform = func(membership.Forgotten) { panic("it was a proxy") } })
		payload, err := json.Marshal(protocol.ReformRequest{Rings: []uint64{1}, AcceptLoss: true})
		require.NoError(t, err)
		_, err = c.dial(c.nodes["a"]).caller.Call(t.Context(), protocol.MethodReform, payload)
		require.ErrorContains(t, err, "only nodes reform")
	})
}

// TestReformingThatWasCutShort: some nodes have begun again, one was not told. It joins them when it is told later.
func TestReformingThatWasCutShort(t *testing.T) {
	t.Parallel()
	l := newLives(t, 3)
	l.restart("a", "b", "c")
	l.linked("a")
	order := protocol.ReformRequest{Rings: l.reformState("a").Rings, Epoch: 1}
	for _, name := range []string{"a", "b"} {
		order.Generation = l.reformState(name).Generation
		begin, err := l.giveUp(name, order)
		require.NoError(t, err)
		begin()
	}
	l.anew(2)
	for _, name := range []string{"a", "b"} {
		l.linked(name)
		require.Equal(t, admin.Forming, l.nodes[name].Self().State, fmt.Sprint(name, " does not learn the old ring from c"))
	}
	report, err := l.nodes["b"].Reform(t.Context(), admin.ReformRequest{})
	require.NoError(t, err)
	require.True(t, report.Done)
	l.anew(3)
	l.connected()
	require.EqualValues(t, 2, l.nodes["c"].replicas.View().Cluster.Epoch)
}
