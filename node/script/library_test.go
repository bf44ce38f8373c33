package script

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/function"
	"github.com/quolldb/quoll/internal/redistest"
)

// loads are codes behind a first line, which register a function f or say why they do not.
var loads = []string{
	``, `return 1`, `local x = tonumber('1')`, `local x = math`, `x = 1`, `_G.x = 1`, `redis.x = 1`, `redis.call('GET', 'x')`, `error('x')`, `local x = _G`, `local x = redis.REPL_ALL`,
	`local x = redis.sha1hex`, `local x = redis.setresp`, `local x = redis.REDIS_VERSION .. redis.xx`, `redis.log(1)`, `redis.log(redis.LOG_NOTICE, 'x')`, `redis.log('x', 'y')`, `local x = KEYS`, `local x = getmetatable`,
	`redis.register_function('f')`, `redis.register_function()`, `redis.register_function('f', 1)`, `redis.register_function('f-', function() end)`, `redis.register_function('', function() end)`,
	`redis.register_function({}, function() end)`, `redis.register_function({})`, `redis.register_function({1})`, `redis.register_function({function_name = 1})`, `redis.register_function({function_name = {}})`,
	`redis.register_function({function_name = 'f'})`, `redis.register_function({callback = function() end})`, `redis.register_function({function_name = 'f', callback = 1})`, `redis.register_function({description = {}})`,
	`redis.register_function({flags = 1})`, `redis.register_function({flags = {'x'}})`, `redis.register_function({flags = {1}})`, `redis.register_function({flags = {{}}})`, `redis.register_function({x = 1})`, `redis.register_function({[{}] = 1})`,
	`redis.register_function('f', function() end) redis.register_function('f', function() end)`, `redis.register_function('f', function() end, 1)`, `for i = 1, 2 do redis.register_function('f' .. i, function() return i end) end`,
	`redis.register_function{FUNCTION_NAME = 'f', Callback = function() end, flags = {'NO-WRITES', 'allow-oom', 'no-writes'}, description = ''}`,
	`redis.register_function{function_name = 'f', callback = function() end, flags = {'allow-cross-slot-keys', 'no-cluster', nil, 'x'}, description = 1}`,
	`local r = redis.register_function r('f', function() return r('g', function() end) end)`, `local x = 'f' .. 1 .. nosuch`, `local t = {} t.x = 1 t[1], t[2] = 2, 3 redis.register_function('f', function(k, a) return t end)`, `redis.register_function(('F'):lower(), function() return 1 end)`,
}

// calls are what f does, which is called with a key and two arguments.
var calls = []string{
	`return {#keys, #args, keys[1], args[1], args[2]}`, `return keys`, `return KEYS`, `return ARGV`, `x = 1`, `return x`, `_G.x = 1`, `return _G.x`, `redis.x = 1`, `keys.x = 1 keys[1] = 2 return keys`, `return {...}`,
	`return redis.breakpoint()`, `return redis.debug`, `return redis.replicate_commands`, `return redis.register_function`, `return redis.sha1hex('')`, `local r = {} for k in pairs(redis) do r[#r + 1] = k end table.sort(r) return r`,
	`local r = {} for k in pairs(_G) do r[#r + 1] = k end table.sort(r) return r`, `return __redis__err__handler`, `return _G == getmetatable(_G)`, `return _G._G == _G`, `getmetatable(_G).__index = 1`, `setmetatable(_G, {})`, `rawset(_G, 'x', 1)`,
	`return redis.call('SET', keys[1], args[1])`, `return redis.call('GET', keys[1])`, `return redis.call('NOSUCH')`, `return redis.pcall('NOSUCH')`, `return redis.call('GET')`, `return redis.call()`, `error('x')`, `error({err = 'x'})`, `error()`,
	`return loadstring('return redis.sha1hex("")')()`, `return {pcall(loadstring('return KEYS'))}`, `return {pcall(loadstring('x = 1'))}`, `return {pcall(loadstring('return nosuch'))}`, `redis.setresp(3) return redis.call('HGETALL', keys[1])`, `return redis.status_reply('x')`,
	`return coroutine.wrap(function() return redis.call('GET', keys[1]) end)()`, `local function f(n) return n < 2 and n or f(n - 1) + f(n - 2) end return f(15)`, `local s = '' for i = 1, 10 do s = s .. i end return s`,
	`return cjson.encode({1, 2})`, `return #cmsgpack.pack(1)`, `return bit.bor(1, 2)`, `return type(string.format)`, `return {1.9, -1.9, true, false, nil, 1}`, `return`, `return 1, 2`,
}

func mylib(code string) []byte { return []byte("#!lua name=mylib\n" + code) }

// TestLibrariesLoadAsInRedis compares what FUNCTION LOAD says of codes, and what it registers.
func TestLibrariesLoadAsInRedis(t *testing.T) {
	redis := dial(t, redistest.Start(t))
	for _, code := range loads {
		redis.do([][]byte{[]byte("FUNCTION"), []byte("FLUSH")})
		want := string(redis.do([][]byte{[]byte("FUNCTION"), []byte("LOAD"), mylib(code)}))
		l, err := CompileLibrary(mylib(code), &Run{})
		if err != nil {
			require.Equal(t, want, "-"+err.Error()+"\r\n", code)
			continue
		}
		require.Equal(t, want, "$5\r\nmylib\r\n", code)
		list := string(redis.do([][]byte{[]byte("FUNCTION"), []byte("LIST")}))
		for _, f := range l.Functions() {
			require.Contains(t, list, "\r\n"+f.Name+"\r\n", code)
			require.Equal(t, strings.Count(list, "\r\nflags\r\n"), len(l.Functions()), code)
			for _, flag := range f.Flags.Strings() {
				require.Contains(t, list, "+"+flag+"\r\n", code)
			}
			if f.Described {
				require.Contains(t, list, "\r\n"+f.Description+"\r\n$5\r\nflags", code)
			}
		}
	}
}

// TestFunctionsReplyAsInRedis compares what functions reply.
func TestFunctionsReplyAsInRedis(t *testing.T) {
	address := redistest.Start(t)
	for _, resp3 := range []bool{false, true} {
		p := newPair(t, address, resp3)
		for _, body := range calls {
			code := mylib("local function f(keys, args, ...)\n" + body + "\nend\nredis.register_function('f', f)")
			p.real.do([][]byte{[]byte("FLUSHALL")})
			p.real.do([][]byte{[]byte("FUNCTION"), []byte("LOAD"), []byte("REPLACE"), code})
			args := [][]byte{[]byte("FCALL"), []byte("f"), []byte("1"), []byte("k1"), []byte("a1"), []byte("10")}
			want := string(p.real.do(args))
			p.real.do([][]byte{[]byte("FLUSHALL")})
			l, err := CompileLibrary(code, &Run{})
			require.NoError(t, err, body)
			for range 2 { // the second one on a machine that was used
				p.real.do([][]byte{[]byte("FLUSHALL")})
				got := string(l.Call(nil, &Run{Keys: args[3:4], Args: args[4:], RESP3: resp3, SHA: "f", Call: p.call}))
				if knownWords(want) != got {
					t.Errorf("RESP3 %v: %s\n  Redis: %q\n  here:  %q", resp3, body, shortened(want), shortened(got))
				}
			}
		}
	}
}

// knownWords leaves out the names of variables, which errors here do not have.
func knownWords(reply string) string {
	for _, named := range []string{"field 'breakpoint'", "field '?'", "global 'x'"} {
		reply = strings.Replace(reply, "attempt to call "+named+" (a nil value)", "attempt to call a nil value", 1)
	}
	return reply
}

// TestAScriptAfterAFunction: a machine that has called a function runs a script as any other, and the reverse.
func TestAScriptAfterAFunction(t *testing.T) {
	l, err := CompileLibrary(mylib("redis.register_function('f', function(keys) return keys[1] end)"), &Run{})
	require.NoError(t, err)
	for range 20 {
		require.Equal(t, "$1\r\nk\r\n", string(l.Call(nil, &Run{Keys: [][]byte{[]byte("k")}, SHA: "f"})))
		require.Equal(t, "$1\r\nk\r\n", string(eval("return KEYS[1]", &Run{Keys: [][]byte{[]byte("k")}})))
		require.Contains(t, string(eval("return redis.register_function('f', 1)", &Run{})), "attempt to call a nil value")
	}
}

// TestLibrariesAreBounded: code that does not come to its end, or wants too much, is no library; neither is a function that does it.
func TestLibrariesAreBounded(t *testing.T) {
	asked := 0
	late := func() bool { asked++; return asked > 20 }
	_, err := CompileLibrary(mylib("while true do end"), &Run{Interrupted: late})
	require.EqualError(t, err, "ERR Error registering functions: ERR FUNCTION LOAD timeout")
	_, err = CompileLibrary(mylib("local s = 'x' while true do s = s .. s end"), &Run{Limits: Limits{Memory: 1 << 20}})
	require.ErrorContains(t, err, "not enough memory")
	_, err = CompileLibrary(mylib("local f = function() end while true do local g = f f = function() return g end redis.register_function('f', f) end"), &Run{Limits: Limits{Memory: 1 << 20}})
	require.ErrorContains(t, err, "already exists")
	_, err = CompileLibrary(mylib("local function f() return 1 + f() end f()"), &Run{})
	require.ErrorContains(t, err, "ERR Error registering functions: ERR ")

	l, err := CompileLibrary(mylib("redis.register_function('f', function() while true do end end)"), &Run{})
	require.NoError(t, err)
	asked = 0
	require.Contains(t, string(l.Call(nil, &Run{SHA: "f", Interrupted: late})), "Script killed by user")
	require.Equal(t, "-ERR Function not found\r\n", string(l.Call(nil, &Run{SHA: "g"})))
	require.Nil(t, l.Function("g"))
	require.Equal(t, function.Flags(0), l.Function("f").Flags)
}
