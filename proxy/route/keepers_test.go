package route

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/ring"
)

var (
	watchHistories = flag.Int("watch.histories", 1000, "how many histories of clients that are told of a key are tried")
	watchSeed      = flag.Uint64("watch.seed", 1, "the seed of the first of them")
)

// keepers are clients that know the value of a key until they are told that it may have changed, and the three replicas of the key, with the links over which they are told. Messages of a link
// keep their order.
type keepers struct {
	t        *testing.T
	rand     *rand.Rand
	watches  *watches
	replicas [3]keptReplica
	staged   map[int]map[int]bool // version -> by whom
	last     int                  // version that was written
	ticks    []func()             // that gather has asked for
	log      []string

	prefix, waiting, once keeper
}

// keeper is a client. That of a prefix reads again when it is told, that which waits looks at the home then, and that which is told once watches the key before it reads it.
type keeper struct {
	watching Watching
	value    int
	told     bool
}

type keptReplica struct {
	link     *nodeLink
	version  int  // that it has
	promised int  // it stages no version below
	linked   bool // the proxy is connected
	hung     bool // nothing of it arrives, nor does it hear anything
	asked    []asking
	watches  []asking
	queue    []func() // what it has told and has not arrived
}

type asking struct {
	id   uint64
	kind protocol.WatchKind
}

func (k *keepers) say(format string, args ...any) {
	k.log = append(k.log, fmt.Sprintf(format, args...))
}

func newKeepers(t *testing.T, seed uint64) *keepers {
	k := &keepers{t: t, rand: rand.New(rand.NewPCG(seed, 1)), staged: map[int]map[int]bool{}}
	c := &Coordinator{}
	c.watches.coordinator = c
	view := &ringView{table: threeNodes(), byID: []*nodeLink{nil}}
	for i := range k.replicas {
		l := c.closedLink(ring.Member{ID: uint16(i + 1)}, 1)
		k.replicas[i].link = l
		view.nodes, view.byID = append(view.nodes, l), append(view.byID, l)
		k.up(i)
	}
	c.ring.Store(view)
	k.watches = &c.watches
	c.watches.timer = func(tick func()) { k.ticks = append(k.ticks, tick) }
	k.prefix.watching = c.WatchPrefix(nil, func(changed []Changed) {
		for _, one := range changed {
			require.Equal(t, "k", string(one.Key))
			k.say("the prefix is told of %d", one.Version.Seq)
		}
		k.prefix.told = true
	})
	k.ask(protocol.WatchPrefix)
	k.waiting.watching = c.Watch([]byte("k"), protocol.WatchAll, func() { k.waiting.told = true })
	k.ask(protocol.WatchAll)
	k.deliver(-1)
	require.True(t, k.prefix.watching.Await(0))
	k.once.told = true
	return k
}

// ask has the replicas be asked to watch what was watched last.
func (k *keepers) ask(kind protocol.WatchKind) {
	for i := range k.replicas {
		if r := &k.replicas[i]; r.linked {
			r.asked = append(r.asked, asking{k.watches.next, kind})
			k.hears(i)
		}
	}
}

// hears has a replica do what it was asked for.
func (k *keepers) hears(i int) {
	r := &k.replicas[i]
	if r.hung {
		return
	}
	for _, one := range r.asked {
		r.watches = append(r.watches, one)
		r.queue = append(r.queue, func() {
			k.say("%d is heard: it watches %d", i, one.id)
			k.watches.watched(r.link, []uint64{one.id})
		})
	}
	r.asked = nil
}

func (k *keepers) up(i int) {
	r := &k.replicas[i]
	if r.linked {
		return
	}
	k.say("%d is up", i)
	r.linked = true
	r.link.up.Store(true)
	if k.watches == nil {
		return
	}
	for id := range k.watches.prefixes {
		r.asked = append(r.asked, asking{id, protocol.WatchPrefix})
	}
	for id := range k.watches.next + 1 {
		if w := k.watches.all[id]; w != nil {
			r.asked = append(r.asked, asking{id, w.kind})
		}
	}
	k.hears(i)
}

func (k *keepers) down(i int) {
	r := &k.replicas[i]
	if !r.linked {
		return
	}
	k.say("%d is down", i)
	r.linked, r.hung, r.asked, r.watches, r.queue = false, false, nil, nil, nil
	r.link.up.Store(false)
	k.watches.down(r.link)
}

// hang has a link hang, or go on.
func (k *keepers) hang(i int) {
	r := &k.replicas[i]
	if !r.linked {
		return
	}
	r.hung = !r.hung
	k.say("%d is hung: %v", i, r.hung)
	r.link.up.Store(!r.hung)
	k.watches.suspected(r.link)
	k.hears(i)
}

// stage has a replica stage a version, unless it has promised not to.
func (k *keepers) stage(i, version int) {
	r := &k.replicas[i]
	if version < r.promised || version <= r.version {
		return
	}
	k.say("%d stages %d", i, version)
	r.version, r.promised = version, version
	if k.staged[version] == nil {
		k.staged[version] = map[int]bool{}
	}
	k.staged[version][i] = true
	at := record.Version{Ballot: record.Ballot{Counter: 1, Incarnation: 1}, Seq: uint64(version)}
	for _, one := range r.watches {
		r.queue = append(r.queue, func() {
			k.say("%d is heard: %d for %d", i, version, one.id)
			if one.kind == protocol.WatchPrefix {
				k.watches.prefixChanges(r.link, []protocol.PrefixChange{{ID: one.id, Slot: ring.SlotOf([]byte("k")), Key: []byte("k"), Version: at}})
			} else {
				k.watches.changes(r.link, []protocol.KeyChange{{ID: one.id, Version: at}})
			}
		})
	}
	r.watches = slices.DeleteFunc(r.watches, func(one asking) bool { return one.kind == protocol.WatchOnce })
}

// deliver delivers what a replica has told first; all that all have told, for -1.
func (k *keepers) deliver(i int) {
	if i < 0 {
		for i := range k.replicas {
			for len(k.replicas[i].queue) > 0 && !k.replicas[i].hung {
				k.deliver(i)
			}
		}
		return
	}
	if r := &k.replicas[i]; len(r.queue) > 0 && !r.hung {
		first := r.queue[0]
		r.queue = r.queue[1:]
		first()
	}
}

// linked are the replicas that the proxy can ask.
func (k *keepers) linked() []int {
	return slices.DeleteFunc(k.rand.Perm(3), func(i int) bool { return !k.replicas[i].linked || k.replicas[i].hung })
}

// settle has a quorum agree on its newest version, as a home does before it writes, and for who reads different versions.
func (k *keepers) settle(quorum []int) int {
	newest := max(k.replicas[quorum[0]].version, k.replicas[quorum[1]].version)
	for _, i := range quorum {
		k.stage(i, newest)
	}
	return newest
}

// write begins a version, as a home of a term does: none before it is chosen any more.
func (k *keepers) write(quorum []int) int {
	newest := k.settle(quorum)
	k.last++
	k.say("%d begins, after %d at %v", k.last, newest, quorum)
	for _, i := range quorum {
		k.replicas[i].promised = k.last
	}
	return newest
}

// readsHome has a client look at a home that the proxy can ask: it answers behind all that was begun before. It reports whether there is one.
func (k *keepers) readsHome(c *keeper) bool {
	linked := k.linked()
	if len(linked) == 0 {
		return false
	}
	c.value = k.write([]int{linked[0], (linked[0] + 1 + k.rand.IntN(2)) % 3})
	return true
}

// reads has a client read what a quorum has, or what a home says, and reports whether that is possible.
func (k *keepers) reads(c *keeper) bool {
	linked := k.linked()
	switch {
	case len(linked) < 2 || k.rand.IntN(4) == 0:
		return k.readsHome(c)
	case k.replicas[linked[0]].version == k.replicas[linked[1]].version:
		c.value = k.replicas[linked[0]].version
	default:
		c.value = k.settle(linked[:2])
	}
	k.say("%d is read at %v", c.value, linked)
	return true
}

// look has those look again who were told.
func (k *keepers) look(c *keeper, how func(*keeper) bool) {
	if c.told && how(c) {
		c.told = false
	}
}

// keep has the one who is told once watch the key, or read it, some time after he watched it.
func (k *keepers) keep() {
	c := &k.once
	switch {
	case c.watching != nil && k.reads(c):
		c.told = c.told || !c.watching.Await(0)
		c.watching = nil
		k.say("it is kept: %v", !c.told)
	case c.watching == nil && c.told:
		k.say("the key is watched")
		c.told = false
		c.watching = k.watches.coordinator.Watch([]byte("k"), protocol.WatchOnce, func() { c.told = true })
		k.ask(protocol.WatchOnce)
	}
}

func (k *keepers) step() {
	i := k.rand.IntN(3)
	switch n := k.rand.IntN(100); {
	case n < 8:
		k.write(k.rand.Perm(3)[:2])
	case n < 34:
		k.stage(i, k.last)
	case n < 58:
		k.deliver(i)
	case n < 67:
		k.keep()
	case n < 75:
		k.look(&k.prefix, k.reads)
	case n < 80:
		k.look(&k.waiting, k.readsHome)
	case n < 86:
		k.hang(i)
	case n < 90:
		k.down(i)
	case n < 95:
		k.up(i)
	case n < 98:
		k.ticksOf(1 + k.rand.IntN(2)*(maxTicks-1))
	default:
		k.say("a second")
		k.watches.unsure()
	}
}

// ticksOf has so many ticks pass, which is as long as what is told waits at most, or shorter.
func (k *keepers) ticksOf(n int) {
	for range n {
		k.tick()
	}
}

// tick has the time pass that what is told waits for, or a part of it.
func (k *keepers) tick() {
	ticks := k.ticks
	k.ticks = nil
	for _, tick := range ticks {
		tick()
	}
}

// ends checks what the clients know when all messages have arrived, and a second has passed.
func (k *keepers) ends() (wrong string) {
	k.deliver(-1)
	k.ticksOf(maxTicks)
	k.watches.unsure()
	newest := 0
	for version, by := range k.staged {
		if len(by) > 1 {
			newest = max(newest, version)
		}
	}
	for name, c := range map[string]*keeper{"of the prefix": &k.prefix, "that waits": &k.waiting, "that is told once": &k.once} {
		if !c.told && c.value < newest && (c != &k.once || c.watching == nil) {
			return fmt.Sprintf("%d is chosen, and the client %s, which was not told, knows %d:\n%s", newest, name, c.value, strings.Join(k.log, "\n"))
		}
	}
	return ""
}

// threeNodes is the table of a ring of three nodes, each of which holds all.
var threeNodes = sync.OnceValue(func() *ring.Table {
	slots := make([]ring.Assignment, ring.Slots)
	for slot := range slots {
		slots[slot] = ring.Assignment{Epoch: 1, Replicas: []uint16{1, 2, 3}}
	}
	table, err := ring.NewTable(1, slots)
	if err != nil {
		panic(err)
	}
	return table
})

// tellingSeeds are those of histories that go wrong when a rule is taken out, each another one.
var tellingSeeds = []uint64{12484, 11369, 125132, 1395, 24285, 22212}

// TestWhoKnowsAKeyIsTold: in random histories of a key's replicas, of their links, and of clients that are told of the key in each way, none that was not told knows a value that was overwritten,
// once all messages have arrived, and a second has passed.
func TestWhoKnowsAKeyIsTold(t *testing.T) {
	t.Parallel()
	seeds := slices.Clone(tellingSeeds)
	for i := range uint64(*watchHistories) {
		seeds = append(seeds, *watchSeed+i)
	}
	for _, seed := range seeds {
		k := newKeepers(t, seed)
		for range 5 + k.rand.IntN(40) {
			k.step()
		}
		if wrong := k.ends(); wrong != "" {
			t.Fatalf("seed %d: %s", seed, wrong)
		}
	}
}
