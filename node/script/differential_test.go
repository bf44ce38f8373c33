package script

import "testing"

// TestRepliesAsRedis: what scripts return, and what they see of replies.
func TestRepliesAsRedis(t *testing.T) {
	compare(t, []string{
		`return`, `return nil`, `return true`, `return false`, `return 1`, `return 3.99`, `return -3.99`, `return 1e20`, `return 0/0`, `return math.huge`,
		`return -math.huge`, `return ''`, `return 'a\r\nb\0c'`, `return {}`, `return {1,2,{3,{4}},'x'}`, `return {1,nil,3}`, `return {nil,1}`, `return {true,false,true}`,
		`return {ok='fine'}`, `return {ok='a\r\nb'}`, `return {ok=1}`, `return {err='X y'}`, `return {err='a\nb'}`, `return {err='-X y'}`, `return {err=''}`, `return {err=1}`,
		`return {double=1.5}`, `return {double=3}`, `return {double=1e100}`, `return {double=1/0}`, `return {double=-1/0}`, `return {double='x'}`, `return {double=0.1}`,
		`return {big_number='123456789012345678901234567890'}`, `return {big_number='1\r\n2'}`, `return {big_number=1}`,
		`return {verbatim_string={format='txt', string='abc'}}`, `return {verbatim_string={format='toolong', string='abc'}}`, `return {verbatim_string={format='x', string=''}}`,
		`return {verbatim_string={string='abc'}}`, `return {verbatim_string='abc'}`,
		`return {map={a=1}}`, `return {map={}}`, `return {map={[1]='x'}}`, `return {set={a=true}}`, `return {set={}}`, `return {map=1}`, `return {set=1}`, `return {map={a={map={b={1,2}}}}}`,
		`redis.setresp(3) return true`, `redis.setresp(3) return false`, `redis.setresp(3) return {true,false}`, `redis.setresp(3) return nil`, `redis.setresp(3) return {nil}`,
		`return print == nil`, `return function() end`, `return redis.call`, `return {function() end, 1}`, `return KEYS`, `return ARGV`, `return #KEYS`, `return KEYS[3]`,
		`return redis.call('SET', KEYS[1], 'v')`, `redis.call('SET', KEYS[1], 'v') return redis.call('GET', KEYS[1])`, `return redis.call('GET', KEYS[1])`,
		`return redis.call('INCR', KEYS[1])`, `redis.call('RPUSH', KEYS[1], 1, 2, 3.5) return redis.call('LRANGE', KEYS[1], 0, -1)`, `return redis.call('LRANGE', KEYS[1], 0, -1)`,
		`redis.call('HSET', KEYS[1], 'f', 'v') return redis.call('HGETALL', KEYS[1])`, `redis.setresp(3) redis.call('HSET', KEYS[1], 'f', 'v') return redis.call('HGETALL', KEYS[1])`,
		`redis.setresp(3) redis.call('HSET', KEYS[1], 'f', 'v') return redis.call('HGETALL', KEYS[1]).map.f`, `redis.setresp(3) redis.call('SADD', KEYS[1], 'f') return redis.call('SMEMBERS', KEYS[1])`,
		`redis.setresp(3) redis.call('SADD', KEYS[1], 'f') return redis.call('SMEMBERS', KEYS[1]).set.f`, `redis.setresp(3) redis.call('ZADD', KEYS[1], 1.5, 'f') return redis.call('ZSCORE', KEYS[1], 'f')`,
		`redis.setresp(3) redis.call('ZADD', KEYS[1], 1.5, 'f') return redis.call('ZSCORE', KEYS[1], 'f').double * 2`, `redis.call('ZADD', KEYS[1], 1.5, 'f') return redis.call('ZSCORE', KEYS[1], 'f')`,
		`redis.setresp(3) return redis.call('GET', KEYS[1]) == nil`, `return redis.call('GET', KEYS[1]) == false`,
		`redis.setresp(3) return redis.call('GET', KEYS[1])`, `return redis.call('SET', KEYS[1], 'v').ok`, `return {redis.pcall('GET', KEYS[1], 'x')}`, `return redis.pcall('NOSUCH')`,
		`return redis.pcall('NOSUCH').err`, `redis.call('SET', KEYS[1], 'v') return redis.pcall('LPUSH', KEYS[1], 1)`, `redis.call('SET', KEYS[1], 'v') return redis.call('LPUSH', KEYS[1], 1)`,
		`redis.call('SET', KEYS[1], 'v') return redis.pcall('LPUSH', KEYS[1], 1).err`, `redis.call('SET', KEYS[1], 1/3) return redis.call('GET', KEYS[1])`,
		`redis.call('SET', KEYS[1], 2^53) return redis.call('GET', KEYS[1])`, `redis.call('SET', KEYS[1], 1e15) return redis.call('GET', KEYS[1])`, `redis.call('SET', KEYS[1], 1e17) return redis.call('GET', KEYS[1])`,
		`return redis.call('ECHO', 0.1)`, `return redis.call('ECHO', 12345678901234567890)`, `return redis.call('ECHO', 1e300)`, `return redis.call('ECHO', 0/0)`,
		`return redis.call()`, `return redis.pcall()`, `return redis.call({})`, `return redis.call('ECHO', nil)`, `return redis.call('ECHO', true)`, `return redis.pcall('ECHO', true)`,
		`return redis.error_reply('AB cd')`, `return redis.error_reply('-AB cd')`, `return redis.error_reply('AB')`, `return redis.error_reply('')`, `return redis.error_reply(1)`, `return redis.error_reply()`,
		`return redis.error_reply('a b\r\n')`, `return redis.status_reply('AB')`, `return redis.status_reply()`, `return redis.status_reply(1)`, `return redis.sha1hex('')`, `return redis.sha1hex('abc')`,
		`return redis.sha1hex(1)`, `return redis.sha1hex()`, `return redis.sha1hex('a', 'b')`, `return redis.setresp()`, `return redis.setresp(4)`, `return redis.setresp('3')`, `return {redis.setresp(2)}`,
		`return redis.log()`, `return redis.log('x', 'y')`, `return redis.log(9, 'y')`, `return redis.log(redis.LOG_DEBUG, 'y', 1)`, `return redis.set_repl()`, `return redis.set_repl(9)`, `return redis.set_repl(redis.REPL_ALL)`,
		`local t = {} t[1] = t return t`, `local t = {} t.map = {a = t} return t`, `local t = {} t.set = {[t] = true} return t`, `return redis.replicate_commands()`, `return {redis.breakpoint(), redis.debug('x')}`, `return redis.acl_check_cmd('SET', 'a', 'b')`, `return redis.acl_check_cmd()`,
		`return {redis.REDIS_VERSION, redis.REDIS_VERSION_NUM, redis.LOG_DEBUG, redis.LOG_VERBOSE, redis.LOG_NOTICE, redis.LOG_WARNING, redis.REPL_ALL, redis.REPL_AOF, redis.REPL_SLAVE, redis.REPL_REPLICA, redis.REPL_NONE}`,
	})
}

// TestErrorsAsRedis: what goes wrong, and in which words.
func TestErrorsAsRedis(t *testing.T) {
	compare(t, []string{
		`error({err='X y'})`, `error({err=5})`, `error('abc')`, `error()`, `error(nil)`, `error('a\nb')`, `error('abc', 0)`, `error('abc', 2)`, `error(5)`, `error(true)`,
		"\n\nerror('third line')", "local function f()\n error('x')\nend\n\nf()", "local function f()\n error('x', 2)\nend\n\nf()", "local function f()\n error({err='X y'})\nend\n\nf()",
		"\nreturn redis.call('NOSUCH')", "local function f()\nreturn redis.call('NOSUCH')\nend\nlocal x = f()", `error({err='X y', source='z', line=7})`,
		`return pcall(error, 'x')`, `return {pcall(error, 'x')}`, `return {pcall(error, {err='X y'})}`, `return {pcall(error, {1,2})}`, `return {pcall(error)}`, `return {pcall(function() error('x') end)}`,
		`return {pcall(function() return redis.call('NOSUCH') end)}`, `return {pcall(redis.call, 'NOSUCH')}`, `return {pcall(function() error({err='x'}) end)}`,
		`return {xpcall(function() error('x') end, function(e) return e .. '!' end)}`, `return {xpcall(function() return 1, 2 end, error)}`, `return {pcall(1)}`, `return {pcall(nil)}`, `return {pcall()}`,
		`local ok, e = pcall(redis.call, 'NOSUCH') return {ok, type(e), e}`, `local ok, e = xpcall(function() redis.call('NOSUCH') end, function(e) return e end) return {ok, type(e), e.err}`,
		`x = 1`, `rawset(_G, 'x', 1)`, `return foo`, `return foo.bar`, `foo()`, `function f() end`, `redis.call = 1`, `redis.foo = 1`, `string.rep = nil`, `table.insert(redis, 1)`, `table.insert(redis, 1, 2)`,
		`setmetatable(_G, {})`, `setmetatable(redis, {})`, `getmetatable('').x = 1`, `getmetatable('').__index = 1`, `rawset(string, 'x', 1)`, `KEYS = 1`, `KEYS[1] = 'z' return KEYS`, `ARGV.x = 1 return ARGV`,
		`getmetatable(_G).__index = nil`, `return _G.foo`, `return _G['foo']`, `_G.foo = 1`, `return rawget(_G, 'foo')`, `return next(_G) ~= nil`, `table.sort(redis)`, `table.remove(redis)`,
		`return os`, `return io`, `return debug`, `return require`, `return dofile`, `return loadfile`, `return print`, `return getfenv`, `return setfenv`, `return newproxy`, `return module`, `return package`,
		`return 1 < 'x'`, `return {} < {}`, `return nil < 1`, `return 'a' < 'b'`, `return 'a' <= 'a'`, `return {} <= 1`, `return 1 + nil`, `return {} + 1`, `return #nil`, `return 'a' + 1`,
		`return 'abc' .. nil`, `return 'abc' .. {}`, `return tostring(nil) .. nil`, `return nil .. 'x'`, `for i = 1, 'x' do end`, `for i = 'x', 1 do end`, `for i = 1, 2, {} do end`,
		`local t = {} t[nil] = 1`, `local t = {} t[0/0] = 1`, `string.rep()`, `string.rep('x')`, `string.rep('x', {})`, `string.format('%d', 'x')`, `string.format('%y', 1)`, `string.format('%d')`, `tonumber()`,
		`setmetatable(1, {})`, `setmetatable({}, 1)`, `return load('return 5')`, `return loadstring('return 5')()`, `return loadstring('x x') == nil`, `return {pcall(loadstring)}`, `assert(false)`, `assert(nil, 'msg')`,
		`return assert(1, 2)`, `assert()`, `unpack()`, `return select('#')`, `return select(0)`, `return {select(2, 1, 2, 3)}`, `return {select(-1, 1, 2, 3)}`, `return unpack({}, 1, 8000)`, `return select('#', unpack({}, 1, 7900))`,
		`local function f() return f() + 1 end return f()`, `return coroutine.wrap(function() error('x') end)()`, `return {coroutine.resume(coroutine.create(function() error('x') end))}`,
		"#!lua\nreturn 1", "#!lua flags=foo\nreturn 1", "#!lua flags=no-writes,allow-stale\nreturn 1", "#!lua name=x\nreturn 1", "#!lua foo=x\nreturn 1", "#!python\nreturn 1", "#!lua", "#!lua\n\nerror('x')", "#!lua flags=\nreturn 1",
		"#!\nreturn 1", "#!lua  flags=no-cluster  \nreturn 1", "#!luaflags=x\nreturn 1",
	})
}

// TestLanguageAsRedis: the language itself, where gopher-lua is not as Lua in C is above all.
func TestLanguageAsRedis(t *testing.T) {
	compare(t, []string{
		`return tostring(0/0) .. ' ' .. tostring(-(0/0)) .. ' ' .. 1e15 .. ' ' .. 2^53 .. ' ' .. 0.1 .. ' ' .. 1e100`, `return tostring(3)`, `return tostring(3.0)`, `return tostring(1e14)`, `return tostring(123456789012345)`,
		`return tostring(1/3)`, `return tostring(-1.5e-10)`, `return tostring(100)`, `return tostring(1e5)`, `return tostring(0.00001)`, `return tostring(2^63)`, `return tostring(math.huge)`, `return 10 .. ''`, `return 1.5 .. '|' .. 2`,
		`return '010' + 1`, `return '0x10' + 0`, `return ' 5 ' * 2`, `return '1e2' + 0`, `return 010`, `return 0x10`, `return tostring(.5)`, `return tostring(3.)`, `return '10' / '4' .. ''`, `return -'2'`, `return '2' ^ '3'`, `return '7' % 4`,
		`return {5 % 3, -5 % 3, 5 % -3, -5 % -3}`, `return tostring(5.5 % 2)`, `return tostring(-0.5 % 3)`, `return 2 ^ 10`, `return 7 / 2 .. ''`, `return 1 == '1'`, `return 'a' == 'a'`, `return {1} == {1}`,
		`return tonumber('0x10')`, `return tonumber('10', 2)`, `return tonumber('zz', 36)`, `return tonumber('8', 8) == nil`, `return tonumber('')  == nil`, `return tonumber('1_0') == nil`, `return tonumber('0b1') == nil`, `return tonumber('1e')  == nil`,
		`return tonumber('0\0\0')`, `return tonumber('12 \0abc')`, `return tonumber('\0') == nil`, `return tonumber('1x\0') == nil`, `return tonumber('0x1f\0z')`, `return tonumber('12\0abc', 16)`, `return tonumber('\0', 16) == nil`,
		`return '12\0abc' + 1`, `local x = '3\0' return -x * 2`, `for i = '1\0', '2\0x' do return i end`, `return ('2\0' < '3')`, `return #('12\0abc')`,
		`return tonumber('inf') == nil`, `return tonumber('nan') == nil`, `return tonumber(' 12 ')`, `return tonumber('1 2') == nil`, `return tonumber('-0x10')`, `return tonumber({}) == nil`, `return tonumber('ff', 16)`, `return tonumber('0xff', 16)`,
		`for i = '1', '3' do redis.call('RPUSH', KEYS[1], i) end return redis.call('LRANGE', KEYS[1], 0, -1)`, `local s = 0 for i = 10, 1, -3 do s = s + i end return s`, `local s = '' for i = 1, 2, 0.5 do s = s .. i .. ' ' end return s`,
		`local x = 1; local function f() x = x + 1 end; pcall(error, 'a'); f(); f(); return x`,
		`local x = 1; local function f() x = x + 1 end; pcall(error, 'a'); pcall(function() local a = nil; return a.b end); f(); f(); return x`,
		`local a, b = 1, 2 a, b = b, a return {a, b}`, `local t = {} t.a, t.b, t.c = 1, 2 return {t.a, t.b, t.c == nil}`, `local i, t = 1, {} i, t[i] = i + 1, 20 return {i, t[1], t[2] == nil}`, `local function f(...) return select('#', ...), ... end return {f(1, nil, 3)}`,
		`local function f(...) local t = {...} return #t end return f(1, 2, 3)`, `local function f(a, ...) a = a + 1 return (function() a = a + 1 return a end)() end return f(1)`, `local function f(...) return arg.n end return f(1, 2)`,
		`local t = {f = function(self, x) return x end} function t:g(x) return self:f(x) end return t:g(5)`, `local t = {a = {b = {}}} function t.a.b.c(x) return x end return t.a.b.c(7)`,
		`local fs = {} for i = 1, 3 do fs[i] = function() i = i + 1 return i end end return {fs[1](), fs[1](), fs[2](), fs[3]()}`, `local function fib(n) if n < 2 then return n end return fib(n-1) + fib(n-2) end return fib(15)`,
		`local tostring = function(x) return tostring(x) .. '!' end return tostring(5)`, `local f f = function(n) if n == 0 then return 'end' end return f(n - 1) end return f(10)`, `local function f() return 1 end local g = f f = function() return 2 end return {f(), g()}`,
		`local t = {10, 20, 30, nil} return #t`, `local t = {n = 1, 5, 6, [1] = 7, [2+1] = 8} return t`, `local t = {} for i = 1, 100 do t[i] = i end for i = 100, 51, -1 do t[i] = nil end return #t`, `return #'a\0b'`, `return {[1] = 'a', [2] = 'b', 'c'}`,
		`local t = {1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,33,34,35,36,37,38,39,40,41,42,43,44,45,46,47,48,49,50,x=1,y=2} return t`,
		`local t = {1, 2, 3} for k, v in pairs(t) do t[k] = nil end return next(t) == nil`, `local t = {a=1, b=2, c=3} for k in pairs(t) do t[k] = nil end return next(t) == nil`, `local n = 0 local t = {1,2,3,x=1,y=2} for k, v in pairs(t) do n = n + v t[k] = nil end return n`,
		`local s = '' for i, v in ipairs({'a', 'b', nil, 'c'}) do s = s .. i .. v end return s`, `local t = setmetatable({}, {__index = function(t, k) return k .. '!' end}) return t.foo`, `local t = setmetatable({}, {__newindex = function(t, k, v) rawset(t, k, v * 2) end}) t.x = 5 return t.x`,
		`local b = {} local t = setmetatable({}, {__newindex = b}) t.x = 5 return {rawget(t, 'x') == nil, b.x}`, `local m = {__add = function(a, b) return 'add' end, __concat = function(a, b) return 'cat' end} local t = setmetatable({}, m) return {t + 1, 1 + t, '1' + t, t .. 'x', 'x' .. t, 1 .. 2 .. t}`,
		`local m = {__eq = function() return true end, __lt = function() return true end, __le = function() return false end} local a, b = setmetatable({}, m), setmetatable({}, m) return {a == b, a < b, a <= b}`, `local t = setmetatable({}, {__call = function(self, a) return a end}) return t(5)`,
		`local t = setmetatable({}, {__tostring = function() return 'me' end}) return tostring(t)`, `local t = setmetatable({}, {__metatable = 'no'}) return getmetatable(t)`, `setmetatable(setmetatable({}, {__metatable = 'no'}), {})`,
		`local t = setmetatable({}, {__unm = function() return 'neg' end}) return -t`, `return type(coroutine.create(function() end))`, `local f = coroutine.wrap(function(a) local b = coroutine.yield(a + 1) return b * 2 end) return {f(1), f(10)}`,
		`local c = coroutine.create(function() coroutine.yield(1) end) local a, b = coroutine.resume(c) local s = coroutine.status(c) coroutine.resume(c) return {a, b, s, coroutine.status(c), coroutine.resume(c)}`,
		`local x = 5 do local x = 6 end return x`, `local i = 0 repeat local j = i i = i + 1 until j >= 3 return i`, `local i = 0 while true do i = i + 1 if i > 5 then break end end return i`, `return not nil`, `return 1 and 2`, `return nil or 'x'`, `return false == nil`,
		"return [[a\nb]]", `return 'a\tb\\\'\065\
c'`, `return [==[x]]y]==]`, "-- comment\nreturn 1 --[[ more ]] + 1", `return #arg`, `return ...`, `return select('#', ...)`, `local s = {} for w in ('a b c'):gmatch('%a') do s[#s + 1] = w end return s`, `return (('x'):rep(3))`, `return ('%d'):format(3.7)`,
		`local t = {} t[1.5] = 'a' t[-1] = 'b' t[0] = 'c' t[true] = 'd' return {t[1.5], t[-1], t[0], t[true]}`, `local t = {} t[1e10] = 1 return t[1e10]`, `local t = {} t['1'] = 'a' return {t[1] == nil, t['1']}`,
		`local t = {} t[3000000] = 'x' return t[3000000]`, `math.randomseed(7) return {math.random(1000), math.random(1000), math.random(1000)}`, `return math.random(0)`, `return math.random(2, 1)`, `return math.random(1,2,3)`,
		`return table.concat({1, 2.5, 'x'}, ',')`, `return table.concat({}, ',')`, `return table.concat({1, 2, 3}, ',', 2, 3)`, `return table.concat({1, {}, 3})`, `local t = {3, 1, 2} table.sort(t) return t`, `local t = {3, 1, 2} table.sort(t, function(a, b) return a > b end) return t`, `local t = {'b', 'a'} table.sort(t) return t`, `table.sort({1, 'x'})`,
		`local t = {1, 2} table.insert(t, 3) table.insert(t, 1, 0) return t`, `local t = {1, 2, 3} return {table.remove(t), table.remove(t, 1), #t}`, `return table.getn({1, 2})`, `return table.maxn({1, 2, [10] = 3})`, `table.setn({}, 1)`, `table.insert({}, 1, 2, 3)`, `local s = 0 table.foreach({1, 2, 3}, function(k, v) s = s + v end) return s`, `return table.foreachi({1, 2, 3}, function(i, v) if i == 2 then return v end end)`,
		`return {math.floor(3.7), math.ceil(3.2), math.abs(-3), math.max(1, 5, 2), math.min(4, 2, 8), math.sqrt(16), math.pow(2, 3), math.fmod(7, 3), math.mod(7, 3), math.log10(1000), math.ldexp(1, 4)}`, `local a, b = math.modf(3.7) return {a, tostring(b)}`, `local a, b = math.modf(-3.7) return {a, tostring(b)}`, `local a, b = math.frexp(8) return {tostring(a), b}`, `return tostring(math.pi)`, `return math.floor('x')`, `math.max()`,
		`return collectgarbage('count') > 0`, `return collectgarbage()`, `return collectgarbage('step')`, `collectgarbage('x')`, `return gcinfo() >= 0`, `return _VERSION`, `return rawequal('a', 'a')`, `return type(nil)`, `type()`, `return tostring(redis):sub(1, 6)`, `return getmetatable('').__index == string`, `return {type(KEYS), type(redis), type(redis.call)}`,
	})
}
