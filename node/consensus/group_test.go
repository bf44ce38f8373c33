package consensus

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/quolldb/quoll/internal/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// cluster is groups in a bubble, and a network between them.
type cluster struct {
	t      *testing.T
	groups map[uint64]*testGroup
	mu     sync.Mutex
	random *rand.Rand
	log    bytes.Buffer // warnings and errors
}

type testGroup struct {
	*Group
	*machine
	c     *cluster
	id    uint64
	disk  *testDisk
	leads atomic.Int32 // calls of Lead that have not ended
	lead  atomic.Pointer[func(context.Context)]
}

func newCluster(t *testing.T, voters, others int) *cluster {
	c := &cluster{t: t, groups: map[uint64]*testGroup{}, random: rand.New(rand.NewPCG(1, 1))}
	var initial Initial
	for i := range voters {
		initial.Voters = append(initial.Voters, uint64(i+1))
	}
	initial.Snapshot = []byte("[]")
	for i := range voters + others {
		g := &testGroup{c: c, id: uint64(i + 1), disk: newTestDisk(), machine: &machine{}}
		storage, err := Create(g.disk, g.id)
		require.NoError(t, err)
		c.groups[g.id] = g
		cfg := g.config()
		cfg.Storage = storage
		if i < voters {
			cfg.Initial = &initial
		}
		g.start(cfg)
	}
	return c
}

func (c *cluster) candidates() (all []Candidate) {
	for id := uint64(1); id <= uint64(len(c.groups)); id++ {
		all = append(all, Candidate{ID: id, Name: fmt.Sprintf("n%d", id), Alive: true})
	}
	return all
}

func (g *testGroup) config() Config {
	cfg := Default()
	cfg.ID, cfg.Transport, cfg.Machine, cfg.Candidates = g.id, g, g.machine, g.c.candidates
	cfg.Logger = slog.New(slog.NewTextHandler(g.c, &slog.HandlerOptions{Level: slog.LevelWarn}))
	cfg.Lead = func(ctx context.Context) {
		g.leads.Add(1)
		defer g.leads.Add(-1)
		if lead := g.lead.Load(); lead != nil {
			(*lead)(ctx)
		}
		<-ctx.Done()
	}
	return cfg
}

func (g *testGroup) start(cfg Config) {
	group, err := Start(g.c.t.Context(), cfg)
	require.NoError(g.c.t, err)
	g.c.mu.Lock()
	g.Group = group
	g.c.mu.Unlock()
}

// Send implements Transport.
func (g *testGroup) Send(to uint64, message []byte) {
	g.c.mu.Lock()
	delay := time.Duration(g.c.random.IntN(10_000_000))
	g.c.mu.Unlock()
	time.AfterFunc(delay, func() {
		g.c.mu.Lock()
		other := g.c.groups[to]
		g.c.mu.Unlock()
		if other.Group != nil {
			other.Receive(message)
		}
	})
}

// Write implements io.Writer for the log.
func (c *cluster) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.log.Write(b)
}

// leader waits for the one that leads.
func (c *cluster) leader() (leader *testGroup) {
	c.t.Helper()
	for range 100 {
		var leads []*testGroup
		for _, g := range c.groups {
			if g.leads.Load() > 0 {
				leads = append(leads, g)
			}
		}
		if len(leads) == 1 && leads[0].Status().Leading {
			return leads[0]
		}
		time.Sleep(100 * time.Millisecond)
	}
	c.t.Fatal("nobody leads")
	return nil
}

func (c *cluster) close() {
	for _, g := range c.groups {
		g.Close()
		g.Close()
		require.Zero(c.t, g.leads.Load(), "Close does not wait for Lead")
	}
}

func TestGroup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 3, 1)
		defer c.close()
		leader := c.leader()
		for id := range uint64(4) {
			r, err := c.groups[id+1].Propose(t.Context(), fmt.Appendf(nil, "from %d", id+1))
			require.NoError(t, err)
			require.Equal(t, fmt.Sprint(id+1), string(r.Value))
			require.NotZero(t, r.Index)
		}
		_, err := leader.Propose(t.Context(), []byte("refuse"))
		require.ErrorIs(t, err, ErrRefused)
		time.Sleep(time.Hour)
		synctest.Wait()
		for id := range uint64(3) {
			require.Len(t, c.groups[id+1].texts(), 4)
			require.Equal(t, []uint64{1, 2, 3}, c.groups[id+1].Status().Voters)
			require.Equal(t, leader.id, c.groups[id+1].Status().Leader)
		}
		require.Equal(t, []uint64{1, 2, 3}, c.groups[4].Voters().IDs)
		require.Equal(t, leader, c.leader(), "another one leads, though all is well")
		require.Empty(t, c.log.String())
	})
}

func TestLeadEndsWithLeading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 3, 0)
		defer c.close()
		first := c.leader()
		_, err := first.Propose(t.Context(), []byte("one"))
		require.NoError(t, err)
		first.Close()
		require.Zero(t, first.leads.Load())
		second := c.leader()
		require.NotEqual(t, first, second)
		require.Contains(t, second.texts(), "one", "it leads before it knows what was decided")
		_, err = second.Propose(t.Context(), []byte("two"))
		require.NoError(t, err)
	})
}

// TestLeadMayPropose: what the leader's owner does, it does in a goroutine that may wait for the group.
func TestLeadMayPropose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 3, 0)
		defer c.close()
		for id, g := range c.groups {
			lead := func(ctx context.Context) { _, _ = g.Propose(ctx, fmt.Appendf(nil, "%d leads", id)) }
			g.lead.Store(&lead)
		}
		leader := c.leader()
		time.Sleep(time.Second)
		require.Equal(t, []string{fmt.Sprintf("%d leads", leader.id)}, leader.texts())
	})
}

// TestCloseWhileLeadAsks: what the leader's owner asks when the group ends is answered, or Close would wait for it for ever.
func TestCloseWhileLeadAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 3, 0)
		defer c.close()
		errs := make(chan error, 2)
		for _, g := range c.groups {
			lead := func(ctx context.Context) {
				for _, other := range c.groups {
					if other != g {
						other.Close() // so nothing is decided any more
					}
				}
				_, err := g.Propose(ctx, []byte("one"))
				errs <- err
				_, err = g.Propose(context.Background(), []byte("two"))
				errs <- err
				g.Hear(g.Voters())
			}
			g.lead.Store(&lead)
		}
		leader := c.leader()
		time.Sleep(100 * time.Millisecond) // it proposes, and waits
		began := time.Now()
		leader.Close()
		require.Zero(t, time.Since(began))
		require.ErrorIs(t, <-errs, ErrUnknown)
		require.ErrorIs(t, <-errs, ErrClosed)
	})
}

// TestWhoConnectsDoesNotWait: what hellos need of a group is there at once, also while its storage or its machine takes long.
func TestWhoConnectsDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 3, 1)
		defer c.close()
		leader, other := c.leader(), c.groups[4]
		voters := Voters{Index: 1000, IDs: []uint64{7, 8, 9}}
		release := make(chan struct{})
		leader.check = func([]logged, uint64) { <-release }
		var wait sync.WaitGroup
		wait.Go(func() { _, _ = leader.Propose(t.Context(), []byte("one")) })
		time.Sleep(100 * time.Millisecond)
		require.Equal(t, []uint64{1, 2, 3}, leader.Voters().IDs)
		for _, v := range []Voters{voters, {Index: 999}} {
			leader.Hear(v)
			other.Hear(v)
		}
		close(release)
		wait.Wait()
		time.Sleep(Default().Tick)
		synctest.Wait()
		require.Equal(t, voters, other.Voters())
		require.Equal(t, voters, leader.Voters())
	})
}

func TestProposeSaysWhyNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 3, 0)
		defer c.close()
		leader := c.leader()
		for _, g := range c.groups {
			if g != leader {
				g.Close()
			}
		}
		time.Sleep(time.Minute)
		began := time.Now()
		_, err := leader.Propose(t.Context(), []byte("one"))
		require.ErrorIs(t, err, ErrNoLeader)
		require.ErrorContains(t, err, "do not answer")
		require.Equal(t, Default().Patience, time.Since(began))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began = time.Now()
		_, err = leader.Propose(ctx, []byte("one"))
		require.ErrorIs(t, err, ErrNoLeader)
		require.Equal(t, time.Second, time.Since(began))
		require.Contains(t, c.log.String(), "do not answer")
		go func() {
			time.Sleep(time.Second)
			leader.Close()
		}()
		_, err = leader.Propose(t.Context(), []byte("one"))
		require.ErrorIs(t, err, ErrClosed)
		_, err = leader.Propose(t.Context(), []byte("one"))
		require.ErrorIs(t, err, ErrClosed)
	})
}

func TestTooManyProposals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 3, 0)
		defer c.close()
		g := c.groups[1]
		c.groups[2].Close()
		c.groups[3].Close()
		var busy, noLeader atomic.Int32
		var all sync.WaitGroup
		for range maxOpen + 10 {
			all.Go(func() {
				_, err := g.Propose(t.Context(), []byte("one"))
				switch {
				case errors.Is(err, ErrBusy):
					busy.Add(1)
				case errors.Is(err, ErrNoLeader):
					noLeader.Add(1)
				}
			})
		}
		all.Wait()
		require.EqualValues(t, 10, busy.Load())
		require.EqualValues(t, maxOpen, noLeader.Load())
	})
}

func TestTheEndOfAGroup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 3, 0)
		defer c.close()
		leader := c.leader()
		leader.disk.fail = errors.New("no disk")
		_, err := leader.Propose(t.Context(), []byte("one"))
		require.ErrorIs(t, err, ErrUnknown)
		<-leader.Done()
		require.ErrorIs(t, leader.Err(), ErrStorage)
		require.ErrorContains(t, leader.Err(), "no disk")
		require.Contains(t, c.log.String(), "commands go on")

		// What cannot be ends the group and not the process.
		leader = c.leader()
		leader.check = func([]logged, uint64) { panic("the machine is broken") }
		_, err = leader.Propose(t.Context(), []byte("two"))
		require.ErrorIs(t, err, ErrUnknown)
		<-leader.Done()
		require.ErrorContains(t, leader.Err(), "the machine is broken")
	})
}

func TestContextEndsGroup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 1, 0)
		defer c.close()
		cfg := c.groups[1].config()
		cfg.ID, cfg.Storage = 9, Memory()
		ctx, cancel := context.WithCancel(t.Context())
		g, err := Start(ctx, cfg)
		require.NoError(t, err)
		require.NoError(t, g.Err())
		cancel()
		<-g.Done()
		require.NoError(t, g.Err())
	})
}

// TestMemoryGroup: a group of nodes that keep nothing lives as long as a majority does.
func TestMemoryGroup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &cluster{t: t, groups: map[uint64]*testGroup{}, random: rand.New(rand.NewPCG(1, 1))}
		defer c.close()
		for id := range uint64(3) {
			g := &testGroup{c: c, id: id + 1, machine: &machine{}}
			c.groups[g.id] = g
		}
		for id := range uint64(3) {
			cfg := c.groups[id+1].config()
			cfg.Storage, cfg.SnapshotEntries = Memory(), 10
			cfg.Initial = &Initial{Voters: []uint64{1, 2, 3}, Snapshot: []byte("[]")}
			c.groups[id+1].start(cfg)
		}
		leader := c.leader()
		for i := range 50 {
			_, err := leader.Propose(t.Context(), fmt.Append(nil, i))
			require.NoError(t, err)
		}
		leader.Close()
		leader = c.leader()
		require.Len(t, leader.texts(), 50)
	})
}

func TestStartRefuses(t *testing.T) {
	storage, err := Create(newTestDisk(), 7)
	require.NoError(t, err)
	good := Default()
	good.ID, good.Storage, good.Transport, good.Machine = 7, storage, new(testGroup), &machine{}
	good.Candidates = func() []Candidate { return nil }
	require.NoError(t, good.Validate())
	for name, wrong := range map[string]func(*Config){
		"no ID":         func(c *Config) { c.ID = 0 },
		"reserved ID":   func(c *Config) { c.ID = ^uint64(0) },
		"no storage":    func(c *Config) { c.Storage = nil },
		"no tick":       func(c *Config) { c.Tick = 0 },
		"no election":   func(c *Config) { c.ElectionTicks = 1 },
		"short message": func(c *Config) { c.MaxMessage = 10 },
		"no entry":      func(c *Config) { c.MaxEntry = 0 },
		"no snapshot":   func(c *Config) { c.SnapshotEntries = 0 },
		"no voters":     func(c *Config) { c.Initial = &Initial{} },
	} {
		t.Run(name, func(t *testing.T) {
			cfg := good
			wrong(&cfg)
			_, err := Start(t.Context(), cfg)
			require.ErrorIs(t, err, ErrConfig)
		})
	}
	t.Run("a snapshot that the machine does not take", func(t *testing.T) {
		cfg := good
		cfg.Initial = &Initial{Voters: []uint64{7}, Snapshot: []byte("no JSON")}
		_, err := Start(t.Context(), cfg)
		require.ErrorContains(t, err, "cannot be restored")
	})
}

func TestPieces(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	message := make([]byte, 10_000)
	for i := range message {
		message[i] = byte(random.Uint32())
	}
	send := func(number uint64) (pieces [][]byte) {
		cut(message, number, header{kindRaft, 1, 2, 0}, leastMessage, func(b []byte) {
			require.LessOrEqual(t, len(b), leastMessage)
			pieces = append(pieces, b)
		})
		return pieces
	}
	a := assemblies{}
	add := func(from uint64, piece []byte) []byte {
		d := wire.NewDecoder(piece)
		require.Equal(t, kindPiece, readHeader(&d).kind)
		return a.add(from, &d)
	}
	pieces := send(1)
	random.Shuffle(len(pieces), func(i, j int) { pieces[i], pieces[j] = pieces[j], pieces[i] })
	for i, piece := range pieces {
		whole := add(1, piece)
		require.Equal(t, i == len(pieces)-1, whole != nil)
		if whole != nil {
			require.Equal(t, message, whole)
		}
		require.Nil(t, add(1, piece), "a piece that comes twice")
	}
	// Pieces of another message do not mix with those of one that was given up.
	for _, piece := range send(2)[1:] {
		require.Nil(t, add(1, piece))
	}
	require.Nil(t, add(1, send(3)[0]))
	for from := range uint64(10 * maxSenders) {
		require.Nil(t, add(from, send(4)[0]))
		require.LessOrEqual(t, len(a), maxSenders)
	}
}

func TestSender(t *testing.T) {
	require.EqualValues(t, 5, Sender(header{kindAsk, 5, 6, 0}.append(nil)))
	require.Zero(t, Sender(nil))
	require.Zero(t, Sender(make([]byte, shortHeader-1)))
}

func TestRecentIsKeptInSnapshots(t *testing.T) {
	var r recent
	for i := range uint64(2000) {
		r.add(result{request: request{i % 3, i}, outcome: applied, index: 3 * i, value: fmt.Append(nil, i)})
	}
	require.Len(t, r.outcomes, len(r.order))
	require.Equal(t, window/3+1, len(r.order))
	again, state, err := decodeSnapshot(r.encodeSnapshot([]byte("state")))
	require.NoError(t, err)
	require.Equal(t, "state", string(state))
	require.Equal(t, r, again)
}

func FuzzDecode(f *testing.F) {
	f.Add(told{leading: true, commit: 7, voters: Voters{9, 3, []uint64{1, 2}}}.append(nil))
	f.Add(result{request: request{1, 2}, outcome: refused, index: 3, value: []byte("no")}.append(nil))
	f.Add(envelope{request{1, 2}, 3, []byte("entry")}.encode())
	f.Add((&recent{}).encodeSnapshot([]byte("state")))
	f.Fuzz(func(t *testing.T, b []byte) {
		d := wire.NewDecoder(b)
		told := readTold(&d)
		require.LessOrEqual(t, len(told.voters.IDs), 2*MaxVoters+2)
		d = wire.NewDecoder(b)
		readResult(&d)
		if e, err := decodeEnvelope(b); err == nil {
			again, err := decodeEnvelope(e.encode())
			require.NoError(t, err)
			require.Equal(t, e, again)
		}
		_, _, _ = decodeSnapshot(b)
		d = wire.NewDecoder(append([]byte{1, 2}, b...))
		require.Nil(t, slices.Clone(assemblies{}.add(1, &d)))
		_, _, _ = readFrames(b)
	})
}
