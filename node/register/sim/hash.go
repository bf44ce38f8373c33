package sim

import (
	"slices"
	"strconv"
	"strings"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/history"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/datatype"
	"github.com/quolldb/quoll/node/register"
)

// Commands on hashes are no toys: package datatype executes them and applies their deltas, as in the product. The model
// below knows nothing of how it does that.

// hashOps are the commands that package datatype executes.
var hashOps = map[string]command.Op{
	"hset": command.OpHSet, "hsetnx": command.OpHSetNX, "hdel": command.OpHDel, "hincrby": command.OpHIncrBy,
	"hget": command.OpHGet, "hmget": command.OpHMGet, "hgetall": command.OpHGetAll, "pexpire": command.OpPExpire,
}

func (c cmd) onHash() bool { return hashOps[c.Name] != 0 }

// fieldNames are the fields of hashes. Values of the last three are long, and of them only every third history has the last two.
var fieldNames = []string{"f", "g", "h", "i", "wide", "vast", "huge"}

func (s *Sim) fieldNames() []string {
	if s.options.Seed%3 == 0 {
		return fieldNames
	}
	return fieldNames[:5]
}

// Long values are written short everywhere but in the registers. A hash with a field that is wide is long enough for its changes
// to travel as deltas, one with both a vast and a huge field to be an object.
const long, longer = "~", "#"

var lengthen = strings.NewReplacer(long, strings.Repeat(long, 300), longer, strings.Repeat(longer, 9000))

var shorten = strings.NewReplacer(strings.Repeat(long, 300), long, strings.Repeat(longer, 9000), longer)

// hashArg draws what follows the key, in which values are unique in the history.
func (s *Sim) hashArg(name string) string {
	all := s.fieldNames()
	field := func() string { return all[s.rand.IntN(len(all))] }
	value := strconv.Itoa(s.token)
	with := func(field string) string {
		switch field {
		case "wide":
			return field + " " + value + long
		case "vast", "huge":
			return field + " " + value + longer
		}
		return field + " " + value
	}
	several := func(most int) string {
		names := slices.Clone(all)
		s.rand.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		return strings.Join(names[:1+s.rand.IntN(most)], " ")
	}
	switch name {
	case "hset":
		arg := with(field())
		if s.chance(2) {
			arg += " " + with("wide")
		}
		return arg
	case "hsetnx":
		return with(field())
	case "hincrby":
		return field() + " " + value
	case "hget":
		return field()
	case "hmget":
		return several(4)
	case "hdel":
		if s.chance(4) { // the last field, whichever that is
			return strings.Join(all, " ")
		}
		return several(2)
	case "pexpire":
		return strconv.Itoa(15 + s.rand.IntN(60))
	}
	return ""
}

// hashRequest is the command as the product has it.
func (c cmd) hashRequest() *command.Request {
	req := &command.Request{Op: hashOps[c.Name], Args: [][]byte{[]byte(c.Name), []byte(c.Key)}}
	for word := range strings.FieldsSeq(lengthen.Replace(c.Arg)) {
		req.Args = append(req.Args, []byte(word))
	}
	return req
}

// executeHash runs a command in package datatype. Its reply is that of Redis, without the protocol: words, of an error the first one, and all fields in
// the order of their names. A hash that is an object has another order than one that is not.
func executeHash(dst []byte, st record.State, req *command.Request, now int64) ([]byte, record.Effect) {
	reply, effect := datatype.Execute(nil, st, req, now)
	text := plain(reply)
	if req.Op == command.OpHGetAll && text != wrongType {
		text = string(history.Hash(text).Sorted())
	}
	return append(dst, text...), effect
}

// countDelta counts what became of a change of a hash that travels as a delta, when a replica has it.
func (s *Sim) countDelta(m, reply *register.Message) {
	switch {
	case !m.IsDelta || len(m.Delta) == 0 || m.Delta[0] == appended: // none: it asks for the head
	case reply.Result == register.OK:
		s.count("hash-delta", 1)
	case reply.Result == register.NeedFull:
		s.count("hash-need-full", 1)
	}
}

// plain takes a reply out of Redis' protocol.
func plain(reply []byte) string {
	var words []string
	for line := range strings.SplitSeq(strings.TrimSuffix(string(reply), "\r\n"), "\r\n") {
		switch {
		case strings.HasPrefix(line, "$-1"):
			words = append(words, history.Nil)
		case strings.HasPrefix(line, "-"):
			word, _, _ := strings.Cut(line[1:], " ")
			words = append(words, word)
		case strings.HasPrefix(line, ":"):
			words = append(words, line[1:])
		case !strings.HasPrefix(line, "$") && !strings.HasPrefix(line, "*"):
			words = append(words, line)
		}
	}
	return shorten.Replace(strings.Join(words, " "))
}

// What Redis says of a command on a value of another type, and of a number that is none.
const wrongType, notNumber = "WRONGTYPE", "ERR"

// applyHash is what a command on a hash means. The model's hash is a history.Hash.
func applyHash(st record.State, c cmd, now int64) (next record.State, reply string) {
	switch {
	case c.Name == "pexpire" && !st.Live():
		return st, "0"
	case c.Name == "pexpire":
		ttl, _ := strconv.ParseInt(c.Arg, 10, 64)
		st.ExpireAt = now + ttl
		return st, "1"
	case st.Live() && st.Type != record.Hash:
		return st, wrongType
	}
	hash, args := history.Hash(st.Value), strings.Fields(c.Arg)
	switch c.Name {
	case "hget", "hmget":
		var values []string
		for _, field := range args {
			value, _ := hash.Get(field)
			values = append(values, value)
		}
		return st, strings.Join(values, " ")
	case "hgetall":
		return st, string(hash)
	}
	hash, reply = change(hash, c.Name, args)
	if hash == "" {
		return record.State{}, reply
	}
	st.Type, st.Value = record.Hash, []byte(hash.Sorted())
	return st, reply
}

// change is what a write does to the fields of a hash.
func change(hash history.Hash, name string, args []string) (changed history.Hash, reply string) {
	count := 0
	switch name {
	case "hdel":
		for _, field := range args {
			if _, found := hash.Get(field); found {
				hash = hash.Delete(field)
				count++
			}
		}
	case "hincrby":
		old, found := hash.Get(args[0])
		n, err := strconv.Atoi(old)
		if found && err != nil {
			return hash, notNumber
		}
		by, _ := strconv.Atoi(args[1])
		reply = strconv.Itoa(n + by)
		return hash.Set(args[0], reply), reply
	default:
		for pair := range slices.Chunk(args, 2) {
			_, found := hash.Get(pair[0])
			if !found {
				count++
			}
			if !found || name != "hsetnx" {
				hash = hash.Set(pair[0], pair[1])
			}
		}
	}
	return hash, strconv.Itoa(count)
}
