package sim

// weather is what a mode does to the cluster.
type weather struct {
	faulty  bool // messages are lost, late and doubled, and processes die in the middle of a step
	slow    bool // messages take very long
	think   int  // how long clients pause at most; 0: little
	small   bool // slots with one and two members, too
	batches bool // commands on several keys, too
	begin   func(s *Sim)
	mix     mix
}

// smallest returns the least number of members that a slot may have.
func (w *weather) smallest() int {
	if w.small {
		return 1
	}
	return 3
}

// mix weighs the commands that clients run.
type mix struct {
	get, set, setnx, append, getset, del, setex, persist, flush     int
	hget, hmget, hgetall, hset, hsetnx, hincrby, hdel, pexpire      int
	mget, mset, msetnx, mappend, rename, derive, mdel, census, wipe int
}

var usual = mix{get: 34, append: 16, set: 10, setnx: 7, del: 13, setex: 8, persist: 4, getset: 5, flush: 3}

// Modes are the names of the weathers, in the order in which they are run.
var Modes = []string{"chaos", "duel", "epochs", "purge", "flush", "failover", "calm", "liveness", "repair", "leaving", "rot", "hashes", "churn", "evict", "batches"}

var weathers = map[string]weather{
	// Everything.
	"chaos": {faulty: true, mix: usual, begin: chaos},
	// The same; then a majority is healed, and has to serve.
	"liveness": {faulty: true, mix: usual, begin: chaos},
	// Several homes fight for the slots, over a network that delays a lot.
	"duel": {faulty: true, slow: true, mix: usual, begin: func(s *Sim) {
		s.rivalry = 40
		s.every(20, 100, s.partition)
		s.every(60, 200, func() { s.crash(s.anyMember()) })
		s.every(200, 600, func() { s.pause(s.anyMember()) })
	}},
	// Members are replaced all the time.
	"epochs": {faulty: true, mix: usual, begin: func(s *Sim) {
		s.every(60, 300, s.rivals)
		s.every(40, 200, s.partition)
		s.every(150, 500, func() { s.crash(s.anyMember()) })
		s.every(50, 150, func() { s.changeMembers(1 + s.rand.IntN(2)) })
		s.every(100, 400, s.dropChange)
	}},
	// Few failures, many deletions: tombstones are purged, floors rise.
	"purge": {faulty: true, slow: true, mix: mix{get: 20, append: 6, set: 16, setnx: 12, del: 36, setex: 4, persist: 2, getset: 4}, begin: func(s *Sim) {
		if s.chance(3) {
			s.rivalry = 10
		}
		s.every(200, 500, func() { s.crash(s.anyMember()) })
		s.every(300, 700, s.reorderMembers)
	}},
	// Slot-wide clears among everything else.
	"flush": {faulty: true, mix: mix{get: 34, append: 14, set: 12, setnx: 7, del: 10, setex: 4, getset: 5, flush: 14}, begin: func(s *Sim) {
		s.every(60, 300, s.rivals)
		s.every(60, 250, s.partition)
		s.every(100, 400, func() { s.crash(s.anyMember()) })
	}},
	// A network without faults; the home of a slot dies now and then.
	"failover": {think: 400, mix: usual, begin: func(s *Sim) {
		s.every(150, 300, func() {
			if home := s.clients[0].homes[s.rand.IntN(slots)]; home != 0 {
				s.crash(s.nodes[home])
			}
		})
	}},
	// Members write keys again that nobody asked them to, whoever leads, in the middle of everything.
	"repair": {faulty: true, mix: mix{get: 34, append: 12, set: 10, setnx: 8, del: 20, setex: 6, persist: 2, getset: 6, flush: 2}, begin: func(s *Sim) {
		s.every(5, 40, s.repair)
		chaos(s)
	}},
	// Members are about to end in turns, and change their minds, and are told of homes that are none any more.
	"leaving": {faulty: true, mix: usual, begin: func(s *Sim) {
		s.every(60, 300, s.rivals)
		s.every(40, 200, s.partition)
		s.every(100, 400, func() { s.crash(s.anyMember()) })
		s.every(150, 600, func() { s.pause(s.anyMember()) })
	}},
	// Records cannot be read any more, and replicas are rebuilt.
	"rot": {faulty: true, slow: true, mix: mix{get: 32, append: 15, set: 10, setnx: 7, del: 15, setex: 5, persist: 2, getset: 6, flush: 8}, begin: func(s *Sim) {
		s.rivalry = 40
		s.every(10, 80, func() { s.rot(s.anyMember()) })
		s.every(100, 400, s.rivals)
		s.every(50, 300, s.partition)
		s.every(150, 600, func() { s.crash(s.anyMember()) })
		s.every(200, 800, func() { s.pause(s.anyMember()) })
		s.every(400, 1200, func() { s.fillStore(s.anyMember()) })
		s.every(250, 900, s.reorderMembers)
	}},
	// Members come and go without a pause: to sets that share none, some or all of the old ones, to more and to fewer, with aborts, lost disks and restarts in the
	// middle of it.
	"churn": {faulty: true, small: true, mix: mix{get: 28, append: 18, set: 10, setnx: 6, del: 14, setex: 5, persist: 2, getset: 5, flush: 12}, begin: func(s *Sim) {
		s.every(60, 300, s.rivals)
		s.every(20, 60, func() { s.changeMembers(s.rand.IntN(4)) })
		sometimes := func(low, high int, fault func()) {
			if !s.chance(4) {
				s.every(low, high, fault)
			}
		}
		sometimes(40, 200, s.partition)
		sometimes(80, 300, func() { s.crash(s.anyMember()) })
		sometimes(150, 500, func() { s.pause(s.anyMember()) })
		sometimes(30, 200, s.dropChange)
		sometimes(150, 500, s.loseDisk)
		sometimes(300, 900, func() { s.fillStore(s.anyMember()) })
		sometimes(200, 600, s.reorderMembers)
	}},
	// Everything, to hashes: small and long ones, and among them strings.
	"hashes": {faulty: true, mix: mix{hget: 14, hmget: 7, hgetall: 11, hset: 25, hsetnx: 5, hincrby: 12, hdel: 8, pexpire: 4,
		get: 2, append: 1, set: 2, setnx: 1, del: 4, persist: 2, flush: 2}, begin: func(s *Sim) {
		if s.chance(2) {
			s.every(5, 80, s.repair)
		}
		if s.chance(4) {
			s.every(20, 200, func() { s.rot(s.anyMember()) })
		}
		chaos(s)
	}},
	// Keys are evicted that nobody asked to be deleted, in the middle of everything: in the version that was chosen, or not at all.
	"evict": {faulty: true, mix: mix{get: 36, append: 16, set: 14, setnx: 10, del: 4, setex: 6, persist: 4, getset: 8, flush: 2}, begin: func(s *Sim) {
		s.every(3, 30, s.evict)
		if s.chance(2) {
			s.every(5, 80, s.repair)
		}
		chaos(s)
	}},
	// Nothing ever happens.
	"calm": {think: 40, mix: usual, begin: func(*Sim) {}},
}

// together are the modes whose faults mode batches has, in turns: each with commands on several keys.
var together = []string{"chaos", "duel", "purge", "failover", "repair", "churn", "rot", "leaving", "epochs", "flush", "liveness"}

// weatherOf returns the weather of a history, and the mode that it is of.
func weatherOf(o Options) (w weather, base string, ok bool) {
	base = o.Mode
	if o.Mode == "batches" {
		base = together[int(uint64(o.Seed)%uint64(len(together)))]
	}
	if w, ok = weathers[base]; base != o.Mode {
		w.batches = true
		w.mix = mix{get: 16, append: 8, set: 8, setnx: 4, del: 6, setex: 4, getset: 2, mget: 10, mset: 8, msetnx: 4, mappend: 8, rename: 6, derive: 4, mdel: 3, census: 6, wipe: 3}
		if base == "purge" {
			w.mix = mix{get: 10, append: 4, set: 8, setnx: 6, del: 16, getset: 2, mget: 10, mset: 8, msetnx: 8, mappend: 4, rename: 4, derive: 2, mdel: 8, census: 8, wipe: 4}
		}
	}
	return w, base, ok
}

// chaos has a part of all faults in each history, for one can hide what another would show.
func chaos(s *Sim) {
	sometimes := func(low, high int, fault func()) {
		if !s.chance(4) {
			s.every(low, high, fault)
		}
	}
	sometimes(60, 300, s.rivals)
	sometimes(30, 150, s.partition)
	sometimes(100, 400, func() { s.crash(s.anyMember()) })
	sometimes(150, 600, func() { s.pause(s.anyMember()) })
	sometimes(100, 400, s.clockJump)
	sometimes(300, 1200, func() { s.failStore(s.anyMember()) })
	sometimes(200, 900, func() { s.fillStore(s.anyMember()) })
	sometimes(250, 900, s.loseDisk)
	sometimes(250, 900, s.reorderMembers)
	sometimes(250, 900, func() { s.changeMembers(1 + s.rand.IntN(2)) })
	sometimes(300, 1200, s.dropChange)
}

// rivals changes how many requests go to a member that is not the home.
func (s *Sim) rivals() { s.rivalry = []int{0, 10, 30, 60}[s.rand.IntN(4)] }

func (m mix) pick(x int) string {
	for _, c := range []struct {
		name   string
		weight int
	}{
		{"get", m.get}, {"append", m.append}, {"set", m.set}, {"setnx", m.setnx}, {"del", m.del},
		{"setex", m.setex}, {"persist", m.persist}, {"getset", m.getset}, {"flush", m.flush},
		{"hget", m.hget}, {"hmget", m.hmget}, {"hgetall", m.hgetall}, {"hset", m.hset}, {"hsetnx", m.hsetnx}, {"hincrby", m.hincrby},
		{"hdel", m.hdel}, {"pexpire", m.pexpire},
		{"mget", m.mget}, {"mset", m.mset}, {"msetnx", m.msetnx}, {"mappend", m.mappend}, {"rename", m.rename}, {"derive", m.derive}, {"mdel", m.mdel}, {"census", m.census}, {"wipe", m.wipe},
	} {
		if x -= c.weight; x < 0 {
			return c.name
		}
	}
	panic("sim: weights of commands are not 100 in all")
}
