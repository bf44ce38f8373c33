//go:build unix

package differential

import (
	"crypto/sha1" //nolint:gosec // it is how Redis names scripts
	"encoding/hex"
)

// scripts are what is run on one key and one argument. What they reply depends on nothing else.
var scripts = []string{
	"return redis.call('GET', KEYS[1])",
	"return redis.pcall('GET', KEYS[1])",
	"return redis.call('SET', KEYS[1], ARGV[1])",
	"return {redis.call('EXISTS', KEYS[1]), redis.call('TYPE', KEYS[1]), KEYS, ARGV}",
	"redis.call('SET', KEYS[1], ARGV[1]); return redis.call('INCR', KEYS[1])",
	"local r = redis.pcall('LPUSH', KEYS[1], ARGV[1]); if type(r) == 'table' and r.err then return redis.error_reply('MINE ' .. tostring(ARGV[1])) end; return r",
	"if redis.call('EXISTS', KEYS[1]) == 1 then return redis.call('DEL', KEYS[1]) end; return redis.status_reply('nothing')",
	"return redis.call('NOSUCH', KEYS[1])", "return redis.call('GET')", "return redis.call('MULTI')", "return redis.call()",
	"return tonumber(ARGV[1])", "return tostring(ARGV[1]) .. '!'", "return nosuch", "return {1, 2, nil, 4}", "return {1.9, -1.9, true, false}", "error('x')",
	"redis.call('SELECT', 3); redis.call('SET', KEYS[1], ARGV[1]); redis.call('SELECT', 0); return {redis.call('EXISTS', KEYS[1]), redis.call('MOVE', KEYS[1], 3)}",
	"return {redis.pcall('SELECT', ARGV[1]), redis.pcall('LMPOP', 1, KEYS[1], 'LEFT'), redis.pcall('COPY', KEYS[1], KEYS[1], 'DB', 2)}",
	"redis.setresp(3); return redis.call('HGETALL', KEYS[1])",
}

// eval draws a script, the key that it is run on, and the argument.
func (g *generator) eval() []string {
	return append([]string{g.lua()}, pick(g, []string{"1", g.key(), g.value()}, []string{"1", g.key(), g.value()}, []string{"1", g.key(), g.value()},
		[]string{"0"}, []string{"2", g.key()}, []string{"-1"}, []string{"x"})...)
}

func (g *generator) lua() string { return scripts[g.intn(len(scripts))] }

// evalsha is eval by name: a script is there if it was run before, or loaded.
func (g *generator) evalsha() []string {
	args := g.eval()
	sum := sha1.Sum([]byte(args[0])) //nolint:gosec // as above
	args[0] = hex.EncodeToString(sum[:])
	return args
}

func (g *generator) scriptCommand() []string {
	sha := g.evalsha()[0]
	return pick(g, []string{"load", g.lua()}, []string{"exists", sha, "x"}, []string{"exists"}, []string{"flush"}, []string{"flush", "x"}, []string{"kill"}, []string{"nosuch"}, []string{"load"})
}
