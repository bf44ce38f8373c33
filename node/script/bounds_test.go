package script

import (
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestEndlessScriptsEnd: whatever a script does, it ends soon after Interrupted says so, and no pcall or coroutine of its own goes on.
func TestEndlessScriptsEnd(t *testing.T) {
	for _, s := range []string{
		`while true do end`, `repeat until false`, `local function f() return f() end f()`, `while true do pcall(function() while true do end end) end`,
		`local function f() pcall(f) f() end f()`, `while true do pcall(error, 'x') end`, `for i = 1, math.huge do local t = {} end`, `local t = {} while true do t = {t[1]} end`,
		`coroutine.wrap(function() while true do end end)()`, `while true do coroutine.resume(coroutine.create(function() while true do end end)) end`, `while true do xpcall(function() while true do end end, function() while true do end end) end`,
		`while true do local s = string.rep('x', 1000000) end`, `local s = string.rep('a', 100000) while true do s:find('.-b') end`, `(string.rep('a', 100)):find(string.rep('a*', 40) .. 'b')`,
		`local t = setmetatable({}, {__index = function(t, k) while true do end end}) return t.x`, `table.sort({1, 2, 3, 4}, function() while true do end end)`, `(('x'):rep(10)):gsub('x', function() while true do end end)`,
		`local t = {} for i = 1, 50000 do t[i] = i end while true do table.insert(t, 1, 0) table.remove(t, 1) end`, `while true do redis.pcall('X') end`, `local f = loadstring('while true do end') while true do pcall(f) end`,
	} {
		asked := 0
		r := &Run{
			Call:        func([][]byte, bool) []byte { return []byte("-ERR x\r\n") },
			Interrupted: func() bool { asked++; return asked > 20 },
		}
		reply := string(eval(s, r))
		require.Contains(t, reply, "Script killed by user with SCRIPT KILL...", s)
		require.Contains(t, reply, sha(s)+", on @", s)
	}
}

// TestMemoryIsBounded: a script that wants more than it may have ends, whatever it wants it for.
func TestMemoryIsBounded(t *testing.T) {
	for _, s := range []string{
		`return string.rep('x', 1e12)`, `local s = 'x' while true do s = s .. s end`, `local t = {} while true do t[#t + 1] = 'x' end`, `local t = {} while true do t[#t + 1] = {} end`,
		`local t = {} local i = 0 while true do i = i + 1 t['k' .. i] = i end`, `local t = {} local i = 0 while true do i = i + 1 t[i] = i t[i - 1] = nil t[-i] = i t[1 - i] = nil end`, `local t = {} local s = string.rep('x', 100000) while true do t[#t + 1] = s .. #t end`,
		`local t = {} while true do t[#t + 1] = {unpack({}, 1, 5000)} t[#t + 1] = {string.byte(string.rep('x', 5000), 1, -1)} end`, `local s = string.rep('x', 1000000) return s:gsub('x', s)`, `return string.format('%s%s', string.rep('x', 9e6), string.rep('x', 9e6))`,
		`local t = {} for i = 1, 100000 do t[i] = string.rep('x', 1000) end return table.concat(t)`, `local t = {} while true do t[#t + 1] = coroutine.create(function() end) end`, `local t = {} while true do pcall(function() t[#t + 1] = string.rep('x', 1e6) .. #t end) end`,
		`local t = {} for i = 1, 100 do t[i] = {} t[i][1000000] = 1 end`, `local t = {} while true do t[#t + 1] = redis.call('X') end`, `local f = function() end while true do local g = f f = function() return g end end`, `local function f(n) local t = {string.rep('x', 1e5) .. n, f(n + 1)} return t end return f(1)`,
	} {
		r := &Run{
			Limits: Limits{Memory: 16 << 20},
			Call:   func([][]byte, bool) []byte { return []byte("*2\r\n$3\r\nabc\r\n$3\r\nabc\r\n") },
		}
		require.Contains(t, string(eval(s, r)), "not enough memory", s)
	}
}

// TestGarbageIsNotMemory: what a script does not hold any more does not count.
func TestGarbageIsNotMemory(t *testing.T) {
	for _, s := range []string{
		`for i = 1, 1000 do local s = string.rep('x', 100000) end return 'done'`, `local t for i = 1, 200000 do t = {i, {i}} end return 'done'`, `local s = '' for i = 1, 2000 do s = s .. 'x' end for i = 1, 3000 do local u = s .. i end return 'done'`,
		`local keep = {} for i = 1, 100 do keep[i] = string.rep('y', 10000) end for i = 1, 1000 do local s = string.rep('x', 100000) end return #keep == 100 and #keep[100] == 10000 and 'done'`,
	} {
		require.Equal(t, "$4\r\ndone\r\n", string(eval(s, &Run{Limits: Limits{Memory: 4 << 20}})), s)
	}
}

// TestDepthIsBounded: calls, and texts, that are deep inside of each other are errors.
func TestDepthIsBounded(t *testing.T) {
	for _, s := range []string{
		`local function f() return 1 + f() end return f()`, `local t = setmetatable({}, {}) getmetatable(t).__index = function(t, k) return t[k] end return t.x`, `local function f() return pcall(f) end return f()`,
		`local function f() return (pcall(function() return 1 + f() end)) end return f()`, `local function f() return coroutine.wrap(f)() end return f()`, `local function f() return 1 + (('x'):gsub('x', f)) end return f()`, `local t = {} t[1] = t return t`,
		`local t = setmetatable({}, {}) getmetatable(t).__newindex = t t.x = 1`, `local t = setmetatable({}, {}) getmetatable(t).__index = t return t.x`, `local t = setmetatable({}, {}) getmetatable(t).__tostring = function() return tostring(t) end return tostring(t)`,
		`return ` + strings.Repeat(`(`, 100000) + `1` + strings.Repeat(`)`, 100000), `return ` + strings.Repeat(`{`, 100000) + strings.Repeat(`}`, 100000), `return ` + strings.Repeat(`-`, 99999) + `1`, `return 1` + strings.Repeat(` .. 1`, 20000), `return 1` + strings.Repeat(` + 1`, 20000),
		strings.Repeat(`if true then `, 50000), strings.Repeat(`do `, 50000) + strings.Repeat(`end `, 50000), `return ` + strings.Repeat(`function() return `, 30000), `local ` + strings.Repeat(`a,`, 300) + `b = 1`, `return {` + strings.Repeat(`1,`, 60000) + `}`, manyConstants(),
	} {
		require.NotPanics(t, func() { eval(s, &Run{}) }, "%.100s", s)
	}
}

// TestNothingStaysOfARun: the next run finds what the first one has found.
func TestNothingStaysOfARun(t *testing.T) {
	m := newMachine()
	run := func(s string) string {
		p, err := Compile([]byte(s))
		require.NoError(t, err)
		r := &Run{Keys: [][]byte{[]byte("k")}}
		reply := m.guard(nil, r, func(dst []byte) []byte {
			m.begin(r)
			m.state.Push(m.state.NewFunctionFromProto(p.proto))
			return m.finish(dst, m.state.PCall(0, 1, nil))
		})
		m.end()
		return string(reply)
	}
	const look = `local names = {} for _, t in ipairs({_G, string, table, math, redis, getmetatable(''), getmetatable(_G)}) do for k, v in pairs(t) do names[#names + 1] = tostring(k) .. type(v) end end table.sort(names) return table.concat(names, ' ') .. tostring(math.random())`
	first := run(look)
	for _, s := range []string{
		`KEYS.leak = 1 ARGV[1] = 2`, `x = 1`, `string.x = 1`, `rawset(string, 'x', 1)`, `getmetatable('').x = 1`, `table.insert(math, 1)`, `setmetatable(string, {})`, `redis.setresp(3) math.randomseed(5)`, `error({err = 'x'})`,
		`local function f() return 1 + f() end f()`, `coroutine.wrap(function() coroutine.yield() end)()`, `for k, v in pairs(_G) do pcall(rawset, v, 'x', 1) pcall(setmetatable, v, {}) pcall(table.remove, v) pcall(table.sort, v) end`, `_G.KEYS = 1`,
		`getmetatable(_G).__index = function() return 1 end`, `for k in pairs(redis) do redis[k] = nil end`, `local t = {} for i = 1, 1000 do t[i] = function() return t end end`,
	} {
		run(s)
		require.Equal(t, first, run(look), s)
	}
}

func manyConstants() string {
	var s strings.Builder
	s.WriteString("return {")
	for i := range 100_000 {
		s.WriteString(strconv.Itoa(i) + ",")
	}
	return s.String() + "}"
}

// TestProgramsAreShared: one program runs in several goroutines at once.
func TestProgramsAreShared(t *testing.T) {
	p, err := Compile([]byte(`local t = {} local function add(x) t[#t + 1] = x .. KEYS[1] end for i = 1, 20 do add(i) pcall(error, 'x') end return table.concat(t, cjson.encode({1}))`))
	require.NoError(t, err)
	want := string(p.Run(nil, &Run{Keys: [][]byte{[]byte("k")}}))
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 50 {
				if got := string(p.Run(nil, &Run{Keys: [][]byte{[]byte("k")}})); got != want {
					t.Errorf("%q is not %q", got, want)
				}
			}
		})
	}
	wg.Wait()
}
