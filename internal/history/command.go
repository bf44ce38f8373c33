package history

import (
	"math"
	"strconv"
	"strings"
)

// Kind is what a command does, as the Redis command of that name.
type Kind string

// The commands that the model knows.
const (
	Get     Kind = "GET"
	Set     Kind = "SET"
	SetNX   Kind = "SETNX"
	GetSet  Kind = "GETSET"
	Append  Kind = "APPEND"
	Incr    Kind = "INCR"
	Del     Kind = "DEL"
	PSetEX  Kind = "PSETEX"
	PExpire Kind = "PEXPIRE"
	Persist Kind = "PERSIST"
	GetEX   Kind = "GETEX"
	GetDel  Kind = "GETDEL"

	HSet    Kind = "HSET"
	HSetNX  Kind = "HSETNX"
	HGet    Kind = "HGET"
	HMGet   Kind = "HMGET"
	HGetAll Kind = "HGETALL"
	HDel    Kind = "HDEL"
	HIncr   Kind = "HINCRBY" // by one

	RPush  Kind = "RPUSH"
	LPush  Kind = "LPUSH"
	RPop   Kind = "RPOP"
	LPop   Kind = "LPOP"
	LMove  Kind = "LMOVE" // the first element becomes the last one
	LRem   Kind = "LREM"  // the first of those that are equal
	LTrim  Kind = "LTRIM" // takes the first element away
	LRange Kind = "LRANGE"

	SAdd      Kind = "SADD"
	SRem      Kind = "SREM"
	SPop      Kind = "SPOP"
	SIsMember Kind = "SISMEMBER"
	SMembers  Kind = "SMEMBERS"

	ZAdd    Kind = "ZADD"
	ZIncr   Kind = "ZINCRBY" // by one
	ZRem    Kind = "ZREM"
	ZPopMin Kind = "ZPOPMIN"
	ZScore  Kind = "ZSCORE"
	ZRange  Kind = "ZRANGE" // all members, with their scores
)

// Command is one command on one key.
type Command struct {
	Kind Kind   `json:"command"`
	Key  string `json:"key"`
	// Field is the field of a command on a hash. HSet, HMGet and HDel may have several, separated by spaces.
	Field string `json:"field,omitempty"`
	// Arg is the value of Set, SetNX, GetSet, Append and PSetEX, and of each field of HSet and HSetNX, there without spaces; or the element or member of
	// a command that names one. RPush, LPush, SAdd and SRem may have several, separated by spaces. Values that are unique in the history make the check sharp.
	Arg string `json:"arg,omitempty"`
	// Score is that of ZAdd.
	Score int64 `json:"score,omitempty"`
	// TTL is in milliseconds, of PSetEX, PExpire and GetEX. GetEX without one persists.
	TTL int64 `json:"ttl_ms,omitempty"`
}

// Args returns the command as a Redis client sends it.
func (c Command) Args() []any {
	args := []any{string(c.Kind), c.Key}
	if c.Kind.family().collects() {
		return c.elementArgs(args)
	}
	ttl := strconv.FormatInt(c.TTL, 10)
	switch c.Kind {
	case Set, SetNX, GetSet, Append:
		args = append(args, c.Arg)
	case PSetEX:
		args = append(args, ttl, c.Arg)
	case PExpire:
		args = append(args, ttl)
	case GetEX:
		if c.TTL == 0 {
			return append(args, "PERSIST")
		}
		args = append(args, "PX", ttl)
	case HSet, HSetNX, HGet, HMGet, HDel, HIncr:
		for field := range strings.FieldsSeq(c.Field) {
			if args = append(args, field); c.Kind == HSet || c.Kind == HSetNX {
				args = append(args, c.Arg)
			}
		}
		if c.Kind == HIncr {
			args = append(args, "1")
		}
	}
	return args
}

// String shows the command as a user types it, with a long value as Draw makes it cut short.
func (c Command) String() string {
	var words []string
	for _, arg := range c.Args() {
		words = append(words, arg.(string))
	}
	return strings.ReplaceAll(strings.Join(words, " "), padding, "~")
}

// Replies that are not values.
const (
	Nil        = "(nil)"
	NotInteger = "ERR value is not an integer or out of range"
	WrongType  = "WRONGTYPE Operation against a key holding the wrong kind of value"
	// FieldNotInteger is what HIncr says instead of NotInteger.
	FieldNotInteger = "ERR hash value is not an integer"
)

// Operation is a command and how it ended.
type Operation struct {
	// Client numbers the clients from 1.
	Client int `json:"client"`
	Command
	// Reply is the answer, empty if Unknown.
	Reply string `json:"reply"`
	// Unknown: nobody knows whether the command took effect, or will yet.
	Unknown bool `json:"unknown,omitempty"`
	// Call and Return are nanoseconds since the recorder began. An unknown operation
	// returns Never.
	Call   int64 `json:"call_ns"`
	Return int64 `json:"return_ns"`
	// CallAt and ReturnAt are the same moments in Unix milliseconds.
	CallAt   int64 `json:"call_at_ms"`
	ReturnAt int64 `json:"return_at_ms"`
	// Pipeline numbers the pipelines from 1, Place the commands in one. 0: none.
	Pipeline int `json:"pipeline,omitempty"`
	Place    int `json:"place,omitempty"`
}

// Never is the Return of operations that did not return.
const Never = math.MaxInt64

// opened is the operation as it looks while it is under way.
func (o Operation) opened() Operation {
	o.Unknown, o.Reply, o.Return, o.ReturnAt = true, "", Never, Never
	return o
}

// noEffect reports whether the operation is known to have changed nothing.
func (o Operation) noEffect() bool {
	switch {
	case o.Kind.Reads():
		return true
	case o.Unknown:
		return false
	case o.Reply == WrongType:
		return true
	}
	switch o.Kind {
	case SetNX, Del, PExpire, Persist, HSetNX, HDel, LRem, SAdd, SRem, ZRem:
		return o.Reply == "0"
	case GetDel, GetEX, LPop, RPop, LMove, SPop:
		return o.Reply == Nil
	case ZPopMin:
		return o.Reply == ""
	case Incr:
		return o.Reply == NotInteger
	case HIncr:
		return o.Reply == FieldNotInteger
	}
	return false
}

// Reads reports whether the command never changes anything.
func (k Kind) Reads() bool {
	switch k {
	case Get, HGet, HMGet, HGetAll, LRange, SIsMember, SMembers, ZScore, ZRange:
		return true
	}
	return false
}
