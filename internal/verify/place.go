package verify

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/quolldb/quoll/internal/history"
)

// place is where a register or counter is: a key, a field of a hash that it shares with others, or all fields of a hash of its own. Those are
// written by one command, so whoever reads them at once finds them equal. Or it is the score of a member of a sorted set, which is a field then, one only.
type place struct {
	key    string
	fields []string
	scored bool
}

// rowFields are those of a hash that is one register.
var rowFields = []string{"a", "b", "c", "d"}

// name tells it from all others.
func (p place) name() string { return strings.TrimSpace(p.key + " " + strings.Join(p.fields, " ")) }

// holder is the key in which it is.
func (p place) holder() string { return p.key }

// set is the command that writes a value.
func (p place) set(value int64) []any {
	switch {
	case len(p.fields) == 0:
		return []any{"SET", p.key, value}
	case p.scored:
		return []any{"ZADD", p.key, value, p.fields[0]}
	}
	command := []any{"HSET", p.key}
	for _, field := range p.fields {
		command = append(command, field, value)
	}
	return command
}

// increment is the command that adds one. A counter has one field at most.
func (p place) increment() []any {
	switch {
	case len(p.fields) == 0:
		return []any{"INCR", p.key}
	case p.scored:
		return []any{"ZINCRBY", p.key, 1, p.fields[0]}
	}
	return []any{"HINCRBY", p.key, p.fields[0], 1}
}

// get is a command that reads the value, one of those that do.
func (p place) get() []any {
	all := rand.IntN(3) == 0
	switch {
	case len(p.fields) == 0:
		return []any{"GET", p.key}
	case p.scored && all:
		return []any{"ZRANGE", p.key, 0, -1, "WITHSCORES"}
	case p.scored:
		return []any{"ZSCORE", p.key, p.fields[0]}
	case all:
		return []any{"HGETALL", p.key}
	}
	command := []any{"HMGET", p.key}
	if len(p.fields) == 1 && rand.IntN(2) == 0 {
		command[0] = "HGET"
	}
	for _, field := range p.fields {
		command = append(command, field)
	}
	return command
}

// value is what the answer to such a command says. It is none if the fields differ, or if there are more than were ever written.
func (p place) value(command []any, reply answer) (value answer, found *Finding) {
	words := strings.Fields(reply.text)
	switch command[0] {
	case "GET", "HGET", "ZSCORE":
		return reply, nil
	case "HGETALL", "ZRANGE":
		hash, pairs := history.Hash(reply.text), len(words)/2
		if words = nil; len(p.fields) == 1 || pairs > 0 {
			for _, field := range p.fields {
				value, _ := hash.Get(field)
				words = append(words, value)
			}
		}
		if len(p.fields) > 1 && pairs > len(p.fields) {
			return answer{}, p.wrong("%s was answered with %d fields, but only %d were written: %.200s", command[0], pairs, len(p.fields), reply.text)
		}
	}
	if len(words) == 0 {
		return answer{null: true}, nil
	}
	for _, word := range words {
		if word != words[0] {
			return answer{}, p.wrong("%s found fields of different versions, which are written by one command: %.200s", command[0], reply.text)
		}
	}
	return answer{text: words[0], null: words[0] == history.Nil}, nil
}

// wrong is a finding about it.
func (p place) wrong(format string, args ...any) *Finding {
	return &Finding{Wrong, p.name(), fmt.Sprintf(format, args...)}
}
