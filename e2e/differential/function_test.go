//go:build unix

package differential

import (
	"slices"

	"github.com/quolldb/quoll/internal/rdb"
)

// codes are what is loaded: libraries of few names, whose functions are in each other's way, and what is no library.
var codes = []string{
	"#!lua name=one\nredis.register_function('f', function(keys, args) return redis.call('SET', keys[1], args[1]) end)",
	"#!lua name=one\nredis.register_function('f', function(keys, args) return {keys, args} end)\nredis.register_function{function_name='g', callback=function(keys) return redis.call('GET', keys[1]) end, flags={'no-writes'}}",
	"#!lua name=two\nredis.register_function{function_name='G', callback=function(keys, args) return redis.pcall('LPUSH', keys[1], args[1]) end, description='two', flags={'allow-oom'}}",
	"#!lua name=two\nlocal function h(keys, args) return redis.error_reply('MINE ' .. tostring(args[1])) end redis.register_function('h', h)\nredis.register_function{function_name='i', callback=function(keys, args) return redis.call('SET', keys[1], 1) end, flags={'no-writes'}}",
	"#!LUA name=One\nredis.register_function('j', function(keys, args) redis.setresp(3) return redis.call('HGETALL', keys[1]) end)",
	"#!lua name=one\nredis.call('GET', 'x')", "#!lua name=one\nredis.register_function('f-', 1)", "#!lua name=two\nreturn", "#!lua name=a-b\n", "#!js name=one\n", "#!lua\n", "#!lua name=one", "return 1", "#!lua name=one x=y\n",
}

func (g *generator) code() string { return codes[g.intn(len(codes))] }

// fcall draws a function, which may be there, the key that it is called with, and the argument.
func (g *generator) fcall() []string {
	return append([]string{pick(g, "f", "F", "g", "G", "h", "i", "j", "nosuch")}, pick(g, []string{"1", g.key(), g.value()}, []string{"1", g.key(), g.value()}, []string{"1", g.key(), g.value()},
		[]string{"1", g.key()}, []string{"2", g.key()}, []string{"-1"}, []string{"x"})...)
}

func (g *generator) functionCommand() []string {
	return pick(g, []string{"load", g.code()}, []string{"load", g.code()}, []string{"load", "replace", g.code()}, []string{"load", "REPLACE", g.code()}, []string{"load", "x", g.code()}, []string{"load", "replace"},
		[]string{"list"}, []string{"list", "withcode"}, []string{"list", "libraryname", pick(g, "*", "ONE", "t*", "x")}, []string{"list", "withcode", "LIBRARYNAME", "o*"}, []string{"list", "libraryname"}, []string{"list", "x"},
		[]string{"delete", pick(g, "one", "two", "One", "x")}, []string{"delete", "one"}, []string{"flush"}, []string{"flush", pick(g, "sync", "async", "x")}, []string{"flush", "sync", "x"}, []string{"stats"}, []string{"kill"}, []string{"dump"},
		[]string{"restore", string(rdb.AppendFunctions(nil, []byte(g.code()))), pick(g, "flush", "append", "replace", "x")}, []string{"restore", string(rdb.AppendFunctions(nil, []byte(g.code()), []byte(g.code())))}, []string{"restore", g.value()}, []string{"restore"}, []string{"nosuch"})
}

// dumpedLibraries returns the codes of a payload, in some order; nil if it is none.
func dumpedLibraries(payload string) (all []string) {
	read, err := rdb.Functions([]byte(payload), 1<<20)
	if err != nil {
		return nil
	}
	for _, code := range read {
		all = append(all, string(code))
	}
	slices.Sort(all)
	return append(all, "")
}
