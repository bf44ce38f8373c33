//go:build unix

package e2e

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/quolldb/quoll/e2e/cluster"
	"github.com/quolldb/quoll/internal/history"
)

// load is a number of clients that work without a pause, one command or pipeline at a
// time each: on a few keys that all of them change, whose history is recorded; on journals, to which
// all of them append; on collections, into which all put elements and of which they take some; and on keys of their own, of which each knows what was acknowledged, a field of a hash among them.
type load struct {
	t        testing.TB
	cfg      loadConfig
	name     string // that its keys begin with
	recorder *history.Recorder
	keys     *history.Keys
	journals [3]string // keys to which all clients append
	ledgers  []*ledger
	clients  []*loadClient
	began    time.Time
	done     atomic.Int64 // commands answered
	repeated atomic.Int64 // commands sent again
	stopping atomic.Bool
	running  sync.WaitGroup

	mu       sync.Mutex
	failures []failure
}

// loads counts the loads: each has keys of its own, also on a cluster that had others before.
var loads atomic.Int64

// loadConfig says what the clients are like. The zero value is the usual one.
type loadConfig struct {
	// impatient clients, the first ones, do not wait long for a reply, and send again what
	// had none. To the history that is another operation.
	impatient int
	// size is about how many bytes the values have that only one client writes. With it
	// clients also overwrite and delete keys of their own, so that what a store keeps
	// becomes obsolete.
	size int
	// patient clients wait a little after a refusal: the cluster may be down for a while.
	patient bool
	// login is how they get in.
	login login
}

// failure is a command that a client got an error for.
type failure struct {
	began, took time.Duration // since the load began
	trip        tripID        // commands of one pipeline fail together
	command     string
	err         error
}

// tripID names what a client sent at once.
type tripID struct{ client, number int }

const (
	// loadClients commands or pipelines at the most are under way at any time.
	loadClients = 16
	// pace leaves the machine some air: a starved node looks like a dead one.
	pace = time.Millisecond
	// patience is the pause of patient clients.
	patience = 20 * time.Millisecond
)

// startLoad starts clients of the given proxies, spread evenly.
func startLoad(t testing.TB, proxies []string) *load { return startLoadOf(t, proxies, loadConfig{}) }

func startLoadOf(t testing.TB, proxies []string, cfg loadConfig) *load {
	l := &load{t: t, cfg: cfg, name: fmt.Sprint("load", loads.Add(1)), recorder: history.NewRecorder(), began: time.Now()}
	l.keys = history.NewKeys(l.name)
	for i := range l.journals {
		l.journals[i] = fmt.Sprint(l.name, ":journal:", i)
		l.recorder.Journal(l.journals[i])
	}
	l.ledgers = newLedgers(l.name)
	for i := range loadClients {
		l.clients = append(l.clients, newLoadClient(l, i, proxies[i%len(proxies)]))
	}
	for _, c := range l.clients {
		l.running.Go(c.work)
	}
	t.Cleanup(l.stop)
	return l
}

// stop waits until every command has its answer.
func (l *load) stop() {
	l.stopping.Store(true)
	l.running.Wait()
}

// progress waits until n more commands are answered.
func (l *load) progress(n int64) {
	l.t.Helper()
	until := l.done.Load() + n
	cluster.Await(l.t, fmt.Sprint(n, " more commands are answered"), func() bool { return l.done.Load() >= until })
}

// everybodyIsServed waits until every client has an answer to a command that it sent
// from now on.
func (l *load) everybodyIsServed() {
	l.t.Helper()
	now := int64(l.now())
	cluster.Await(l.t, "every client is served", func() bool {
		return !slices.ContainsFunc(l.clients, func(c *loadClient) bool { return c.served.Load() < now })
	})
}

func (l *load) now() time.Duration { return time.Since(l.began) }

// note records what was done to the cluster, for the artefacts of a failing run.
func (l *load) note(format string, args ...any) { l.recorder.Note(fmt.Sprintf(format, args...)) }
