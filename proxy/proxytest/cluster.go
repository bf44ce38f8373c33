package proxytest

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quolldb/quoll/internal/admin"
	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/database"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/protocol/answer"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/proxy/route"
	"github.com/quolldb/quoll/ring"
)

// Cluster is a route.Cluster in memory, with as many commands as the tests need. What is below the lock is guarded by it once commands are executed.
type Cluster struct {
	// Before, if set, is called with each batch before it is executed.
	Before func(*route.Batch)
	// Intercept, if set, may decide an operation itself.
	Intercept func(*route.Op) bool

	sync.Mutex
	Data map[string]string
	// versions count how often each key has changed, as far as commands did it.
	versions map[string]uint64
	changes  uint64 // of all keys
	watches  []*watching
	// Batches counts calls of Execute.
	Batches int
	// Err, if set, is what Scan, DBSize, FlushAll and RandomKey answer.
	Err error
	// placed is what Placements answers, which has to do so while commands are executed.
	placed atomic.Pointer[database.Placements]
	// interests guards interest, which is what Interest was told, by kind and name, and hear who hears messages.
	interests sync.Mutex
	interest  [protocol.InterestKinds]map[string]uint64
	hear      func(*protocol.Message)
	// usersMu guards users, and hearUsers, who are told of them: several proxies may be on one cluster.
	usersMu   sync.Mutex
	memory    admin.Memory
	users     route.Users
	hearUsers []func(route.Users)
	// UsersErr, if set, is what ChangeUsers and SetParameters answer.
	UsersErr error
	// NotReady is what Loading answers.
	NotReady error
	// Missed are slots of which one of the replicas has missed a write, as Held finds out, and Asked counts its calls.
	Missed ring.SlotSet
	Asked  int
	// InMemory is what Durable says of all nodes, and Unsynced are slots that one of the replicas does not get onto its disk.
	InMemory bool
	Unsynced ring.SlotSet
}

// NewCluster returns one without keys.
func NewCluster() *Cluster {
	c := &Cluster{Data: make(map[string]string), versions: make(map[string]uint64)}
	for kind := range c.interest {
		c.interest[kind] = map[string]uint64{}
	}
	c.Place(database.Placements{})
	return c
}

// Execute implements route.Cluster. It tells of every second part that it is answered.
func (c *Cluster) Execute(b *route.Batch) {
	if c.Before != nil {
		c.Before(b)
	}
	c.execute(b.Ops)
	if b.OnPart == nil {
		return
	}
	for part := 0; part < b.Parts(); part += 2 {
		b.OnPart(part)
	}
}

func (c *Cluster) execute(ops []route.Op) {
	c.Lock()
	defer c.Unlock()
	c.Batches++
	for i := range ops {
		op := &ops[i]
		if c.Intercept != nil && c.Intercept(op) {
			continue
		}
		before := c.changes
		op.Outcome, op.Reply = answer.Done, c.run(op.Req)
		if op.Req.Versioned && op.Req.Op != command.OpBatch && c.changes > before {
			op.Version = record.Version{Seq: c.changes}
		}
		for _, w := range c.watches {
			if len(w.changed) > 0 {
				go w.told(w.changed)
				w.changed = nil
			}
		}
	}
}

func (c *Cluster) run(req command.Request) []byte {
	key := string(req.Args[1])
	value, exists := c.Data[key]
	switch req.Op {
	case command.OpBatch:
		return c.runBatch(&req)
	case command.OpPublish, command.OpSPublish:
		return c.publish(&protocol.Message{Shard: req.Op == command.OpSPublish, Channel: req.Args[1], Payload: req.Args[2]})
	case command.OpGet, command.OpMGet, command.OpDumpState:
		if !exists {
			return resp.AppendNull(nil, req.RESP3)
		}
		return resp.AppendBulk(nil, value)
	case command.OpHKeys: // of scripts, of which there are none
		return resp.AppendArray(nil, 0)
	case command.OpSizeState:
		if !exists {
			return resp.AppendNull(nil, req.RESP3)
		}
		return resp.AppendInt(nil, int64(len(value)))
	case command.OpObjectState:
		if !exists {
			return resp.AppendNull(nil, req.RESP3)
		}
		return resp.AppendBulk(nil, req.Args[2])
	case command.OpSet:
		if len(req.Args) > 3 {
			return resp.AppendError(nil, "ERR syntax error")
		}
		c.set(key, string(req.Args[2]))
		return []byte(resp.OK)
	case command.OpDel, command.OpUnlink, command.OpFlushKey:
		c.remove(key)
		return boolReply(exists)
	case command.OpExpire:
		if exists {
			c.versions[key]++
		}
		return boolReply(exists)
	case command.OpExists, command.OpTouch:
		return boolReply(exists)
	case command.OpRestoreState:
		if exists && len(req.Args) < 4 {
			return boolReply(false)
		}
		c.set(key, string(req.Args[2]))
		return boolReply(true)
	case command.OpStrlen:
		return resp.AppendInt(nil, int64(len(value)))
	case command.OpIncr:
		n, err := strconv.ParseInt(value, 10, 64)
		if exists && err != nil {
			return resp.AppendError(nil, "ERR value is not an integer or out of range")
		}
		c.set(key, strconv.FormatInt(n+1, 10))
		return resp.AppendInt(nil, n+1)
	}
	return resp.AppendError(nil, "ERR the fake cluster does not have this command")
}

func boolReply(yes bool) []byte {
	if yes {
		return []byte(":1\r\n")
	}
	return []byte(":0\r\n")
}

// Scan implements route.Cluster. It goes by slot and splits none: a cursor is a slot.
func (c *Cluster) Scan(_ context.Context, number int, from route.Cursor, count int) ([]route.ScanEntry, route.Cursor, error) {
	c.Lock()
	defer c.Unlock()
	slotOf := func(key string) int { return int(ring.SlotOf([]byte(key))) }
	keys := slices.SortedFunc(maps.Keys(c.Data), func(a, b string) int {
		return cmp.Or(cmp.Compare(slotOf(a), slotOf(b)), cmp.Compare(a, b))
	})
	var entries []route.ScanEntry
	for i, key := range keys {
		of, name := database.Split([]byte(key))
		if route.Cursor(slotOf(key)) < from || of != c.Placements().ID(number) {
			continue
		}
		entries = append(entries, route.ScanEntry{Key: name, Type: record.String})
		if len(entries) >= count && i+1 < len(keys) && slotOf(keys[i+1]) != slotOf(key) {
			return entries, route.Cursor(slotOf(key) + 1), c.Err
		}
	}
	return entries, 0, c.Err
}

// List implements route.Cluster.
func (c *Cluster) List(_ context.Context, id database.ID, _ int) (names [][]byte, listing command.Listing, err error) {
	c.Lock()
	defer c.Unlock()
	for _, key := range slices.Sorted(maps.Keys(c.Data)) {
		if of, _ := database.Split([]byte(key)); of == id {
			names = append(names, []byte(key))
		}
	}
	return names, command.Listing{Database: id}, c.Err
}

// DBSize implements route.Cluster.
func (c *Cluster) DBSize(ctx context.Context, number int) (int64, error) {
	sizes, err := c.DBSizes(ctx)
	return sizes[number], err
}

// DBSizes implements route.Cluster.
func (c *Cluster) DBSizes(context.Context) (sizes [database.Count]int64, err error) {
	c.Lock()
	defer c.Unlock()
	for key := range c.Data {
		id, _ := database.Split([]byte(key))
		if number := id.Number(); id == c.Placements().ID(number) {
			sizes[number]++
		}
	}
	return sizes, c.Err
}

// FlushAll implements route.Cluster.
func (c *Cluster) FlushAll(_ context.Context, kept ...[]byte) error {
	c.Lock()
	defer c.Unlock()
	if c.Err == nil {
		for key := range c.Data {
			if !slices.ContainsFunc(kept, func(k []byte) bool { return string(k) == key }) {
				c.remove(key)
			}
		}
	}
	return c.Err
}

// Place has the keys of databases be placed in some way. Those that are there stay under their names.
func (c *Cluster) Place(p database.Placements) { c.placed.Store(&p) }

// Placements implements route.Cluster.
func (c *Cluster) Placements() database.Placements { return *c.placed.Load() }

// Working implements route.Cluster.
func (c *Cluster) Working() bool { return false }

// Copies implements route.Cluster: there are three replicas.
func (c *Cluster) Copies() (certain, all int) { return 2, 3 }

// Held implements route.Cluster: all three hold what was written, unless Missed says of a slot that one does not.
func (c *Cluster) Held(_ context.Context, slots *ring.SlotSet, copies int) (least int) {
	c.Lock()
	defer c.Unlock()
	c.Asked++
	least = math.MaxInt
	for slot := range uint16(ring.Slots) {
		switch {
		case copies > 2 && slots.Has(slot) && c.Missed.Has(slot):
			least = 2
		default:
			slots.Remove(slot)
		}
	}
	return least
}

// Durable implements route.Cluster: it is Held of slots that are neither Missed nor Unsynced.
func (c *Cluster) Durable(ctx context.Context, slots *ring.SlotSet, copies int) (least int, err error) {
	c.Lock()
	inMemory, missed := c.InMemory, c.Missed
	c.Missed.Union(&c.Unsynced)
	c.Unlock()
	least = c.Held(ctx, slots, copies)
	c.Lock()
	defer c.Unlock()
	if c.Missed = missed; inMemory {
		return 0, route.ErrInMemory
	}
	return least, nil
}

// Scripts implements route.Cluster: none takes long.
func (c *Cluster) Scripts(context.Context, protocol.ScriptsRequest) (running []protocol.RunningScript, silent int) {
	return nil, 0
}

// EndWaiting implements route.Cluster.
func (c *Cluster) EndWaiting() {}

// Loading implements route.Cluster.
func (c *Cluster) Loading() error {
	c.Lock()
	defer c.Unlock()
	return c.NotReady
}

// Watch implements route.Cluster: it tells of each command that writes the key, before anybody hears of it.
func (c *Cluster) Watch(key []byte, _ protocol.WatchKind, changed func()) route.Watching {
	c.Lock()
	defer c.Unlock()
	w := &watching{cluster: c, key: string(key), tell: changed}
	c.watches = append(c.watches, w)
	return w
}

// WatchPrefix implements route.Cluster, as Watch.
func (c *Cluster) WatchPrefix(prefix []byte, told func(changed []route.Changed)) route.Watching {
	c.Lock()
	defer c.Unlock()
	w := &watching{cluster: c, key: string(prefix), told: told}
	c.watches = append(c.watches, w)
	return w
}

// Watched is how many keys, and prefixes, are watched.
func (c *Cluster) Watched() int {
	c.Lock()
	defer c.Unlock()
	return len(c.watches)
}

// watching is a key that somebody watches, or how keys begin that somebody watches.
type watching struct {
	cluster *Cluster
	key     string
	tell    func()
	told    func(changed []route.Changed) // of a prefix,
	changed []route.Changed               // which is to be told
}

// Await implements route.Watching.
func (w *watching) Await(time.Duration) bool { return true }

// End implements route.Watching.
func (w *watching) End() {
	w.cluster.Lock()
	defer w.cluster.Unlock()
	w.cluster.watches = slices.DeleteFunc(w.cluster.watches, func(one *watching) bool { return one == w })
}

// RandomKey implements route.Cluster.
func (c *Cluster) RandomKey(_ context.Context, number int) ([]byte, error) {
	c.Lock()
	defer c.Unlock()
	for key := range c.Data {
		if of, name := database.Split([]byte(key)); of == c.Placements().ID(number) {
			return name, c.Err
		}
	}
	return nil, c.Err
}
