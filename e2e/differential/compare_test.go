//go:build unix

package differential

import (
	"slices"
	"strings"
	"time"
)

// tolerance is how far apart two replies may be that depend on when a command was
// executed. Random sequences never set two relative expiries of one key that are closer
// than a multiple of it, so that it hides nothing else.
const tolerance = 100 * time.Second

// name is the name of the command, for containers with the subcommand, in upper case.
func (s step) name() string {
	if len(s.args) == 0 {
		return ""
	}
	name := strings.ToUpper(s.args[0])
	switch name {
	case "ACL", "CLIENT", "CLUSTER", "COMMAND", "CONFIG", "FUNCTION", "LATENCY", "MEMORY", "OBJECT", "SLOWLOG", "XGROUP", "XINFO":
		if len(s.args) > 1 {
			name += " " + strings.ToUpper(s.args[1])
		}
	}
	return name
}

// sameMeaning reports whether two replies that are not the same bytes mean the same:
// because they tell a time, list what has no order, or name the connection.
func (x exchange) sameMeaning() bool {
	if x.form == raw { // which may contain HELLO
		return anonymous(x.redis, x.redisID) == anonymous(x.quoll, x.quollID)
	}
	if !x.isCommand() {
		return false
	}
	redis, quoll := parseReply(x.redis), parseReply(x.quoll)
	if redis.kind != quoll.kind || redis.kind == '-' || redis.kind == 0 {
		return false
	}
	switch x.name() {
	case "TTL", "EXPIRETIME":
		return near(redis, quoll, time.Second)
	case "PTTL", "PEXPIRETIME":
		return near(redis, quoll, time.Millisecond)
	case "TIME":
		return len(redis.list) == 2 && len(quoll.list) == 2 && near(redis.list[0], quoll.list[0], time.Second)
	case "ACL GENPASS": // which nobody is to guess
		return len(redis.text) == len(quoll.text)
	case "KEYS":
		return sameTexts(redis, quoll)
	case "SCAN": // whole iterations are compared, see iterate
		return len(redis.list) == 2 && len(quoll.list) == 2 && quoll.list[1].kind == '*'
	case "SMEMBERS", "SPOP", "SINTER", "SUNION", "SDIFF": // in no order, unless they are all integers, which then are the same already
		return sameTexts(redis, quoll)
	case "SSCAN": // and in pages of their own; what is not paged is the same, or in no order
		return len(redis.list) == 2 && len(quoll.list) == 2 && quoll.list[1].kind == '*' && (redis.list[0].text != "0" || sameTexts(redis.list[1], quoll.list[1]))
	case "SORT", "SORT_RO": // a set that is not sorted is in no order
		return strings.Contains(strings.ToUpper(strings.Join(x.args, " ")), "BY") && (sameTexts(redis, quoll) || redis.shape() == quoll.shape() && strings.Contains(strings.ToUpper(strings.Join(x.args, " ")), "LIMIT"))
	case "SRANDMEMBER":
		return redis.shape() == quoll.shape()
	case "HRANDFIELD", "ZRANDMEMBER": // any of those that there are, as many of them
		return redis.shape() == quoll.shape()
	case "DUMP":
		return sameDump(redis.text, quoll.text)
	case "GEOSEARCH", "GEORADIUS", "GEORADIUS_RO", "GEORADIUSBYMEMBER", "GEORADIUSBYMEMBER_RO": // COUNT leaves out any of those that are as far away as others
		return strings.Contains(strings.ToUpper(strings.Join(x.args, " ")), "COUNT") && redis.shape() == quoll.shape()
	case "FUNCTION LIST": // libraries, their functions and the flags of these are in no order
		return redis.unordered() == quoll.unordered()
	case "FUNCTION DUMP":
		return slices.Equal(dumpedLibraries(redis.text), dumpedLibraries(quoll.text))
	case "EVAL", "EVAL_RO", "EVALSHA", "EVALSHA_RO", "FCALL", "FCALL_RO", "EXEC": // the map that a script replies was a table of Lua's, which is in no order
		return redis.sorted() == quoll.sorted()
	case "RANDOMKEY":
		return (x.redis == "$-1\r\n") == (x.quoll == "$-1\r\n") // any of those that there are
	case "CLIENT ID":
		return x.redis == ":"+x.redisID+"\r\n" && x.quoll == ":"+x.quollID+"\r\n"
	case "HELLO":
		return anonymous(x.redis, x.redisID) == anonymous(x.quoll, x.quollID)
	}
	return false
}

// sameTexts reports whether two lists have the same texts, in whatever order.
func sameTexts(a, b value) bool {
	return slices.Equal(slices.Sorted(slices.Values(a.texts())), slices.Sorted(slices.Values(b.texts())))
}

// near compares two times, which are positive: -1 and -2 have a meaning of their own.
func near(a, b value, unit time.Duration) bool {
	m, ok := a.number()
	n, ok2 := b.number()
	return ok && ok2 && m > 0 && n > 0 && max(m-n, n-m) <= int64(tolerance/unit)
}

// anonymous takes a connection's id out of the replies to HELLO.
func anonymous(replies, id string) string {
	return strings.ReplaceAll(replies, "$2\r\nid\r\n:"+id+"\r\n", "")
}
