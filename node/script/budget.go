package script

import lua "github.com/yuin/gopher-lua"

// What values take, in bytes, about.
const (
	stringSize  = 24
	entrySize   = 16  // an element of a table's array
	keySize     = 120 // another key, which gopher-lua keeps in three places
	tableSize   = 120
	threadSize  = 24 << 10
	perStep     = 48 // what an instruction may take without asking: a table, a function
	stepsAtOnce = 8192
)

// budget counts what a run uses.
type budget struct {
	steps       int   // instructions until Interrupted is asked again
	used        int64 // bytes: what was alive when it was counted last, and all that was made since then
	held        int64 // bytes of what functions of libraries are making, which nothing refers to yet
	limit       int64
	enough      int64 // up to here used is not looked into: what it counts may be garbage
	interrupted func() bool
	ended       string // why the script ends: no pcall goes on
}

func (b *budget) begin(r *Run) {
	limit := r.Limits.Memory
	if limit <= 0 {
		limit = defaultMemory
	}
	*b = budget{steps: stepsAtOnce, limit: limit, enough: limit, interrupted: r.Interrupted}
}

const (
	killedText = "Script killed by user with SCRIPT KILL..."
	// Killed is the error of a script that was, without its place.
	Killed   = "ERR " + killedText
	noMemory = "not enough memory for the values of a script"
)

// Done is asked by the state before each instruction. It never ends a script by its channel, but raises an error that no function of the script sees.
func (m *machine) Done() <-chan struct{} {
	if m.steps--; m.steps <= 0 {
		m.tick()
	}
	return nil
}

// tick looks whether the script shall go on.
func (m *machine) tick() {
	m.steps = stepsAtOnce
	interrupted := m.ended == "" && m.interrupted != nil && m.interrupted()
	switch {
	case m.ended != "":
		m.stop(m.ended)
	case interrupted && m.loading != nil:
		m.stop(loadTimeout)
	case interrupted:
		m.stop(killedText)
	case !m.has(stepsAtOnce * perStep):
		m.stop(noMemory)
	}
}

// stop ends the script.
func (m *machine) stop(why string) {
	m.ended, m.steps = why, 0 // so that each instruction asks
	panic(&lua.ApiError{Type: lua.ApiErrorRun, Object: lua.LString(why), StackTrace: m.place()})
}

// work counts steps of a function of a library that takes long.
func (m *machine) work(steps int) {
	if m.steps -= steps; m.steps <= 0 {
		m.tick()
	}
}

// charge counts memory that is about to be taken, and ends the script if there is none.
func (m *machine) charge(bytes int) {
	if !m.has(int64(bytes)) {
		m.stop(noMemory)
	}
}

// hold charges memory of something that a function of a library is making, until that function returns.
func (m *machine) hold(bytes int) {
	m.charge(bytes)
	m.held += int64(bytes)
}

// has counts bytes, and reports whether they can be had. Garbage is counted, too, until there is more of it than half of the limit.
func (m *machine) has(bytes int64) bool {
	if m.used += bytes; m.used <= m.enough {
		return true
	}
	if bytes > m.limit {
		return false
	}
	alive := m.alive() + m.held + bytes
	m.used, m.enough = alive, max(m.limit, alive+m.limit/2)
	return alive <= m.limit
}
