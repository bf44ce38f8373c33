package session

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/proxy/route"
)

// handler answers a command that is not made of operations on keys: it appends
// the reply to dst. args are borrowed. Nothing appended means no reply.
type handler func(s *Session, dst []byte, args [][]byte) []byte

// container is a command with subcommands, such as CLIENT.
type container struct {
	name        string // in upper case
	subcommands []subcommand
}

// subcommand is one of them. arity is as in the command table and counts both
// names. help is what HELP shows: how it is written, then what it does.
type subcommand struct {
	name  string
	arity int
	run   handler
	help  []string
}

// run finds the subcommand and executes it.
func (c *container) run(s *Session, dst []byte, args [][]byte) []byte {
	sub, err := c.find(args)
	switch {
	case err != nil:
		return route.AppendReply(dst, err)
	case sub == nil:
		return c.appendHelp(dst)
	}
	return sub.run(s, dst, args)
}

// find returns the subcommand that args call, nil for HELP, or what is wrong with them.
func (c *container) find(args [][]byte) (*subcommand, error) {
	if is(args[1], "HELP") {
		if len(args) != 2 {
			return nil, wrongArity(strings.ToLower(c.name + "|help"))
		}
		return nil, nil
	}
	for i := range c.subcommands {
		sub := &c.subcommands[i]
		if !is(args[1], sub.name) {
			continue
		}
		if len(args) != sub.arity && (sub.arity > 0 || len(args) < -sub.arity) {
			return nil, wrongArity(strings.ToLower(c.name + "|" + sub.name))
		}
		return sub, nil
	}
	return nil, route.Refuse(fmt.Sprintf("ERR unknown subcommand '%s'. Try %s HELP.", beginning(args[1], 128), c.name))
}

// misused is the error for a subcommand that finds its arguments to be too many.
func misused(container string, args [][]byte) error {
	return route.Refuse(fmt.Sprintf("ERR unknown subcommand or wrong number of arguments for '%s'. Try %s HELP.", beginning(args[1], 128), container))
}

func (c *container) appendHelp(dst []byte) []byte {
	lines := []string{c.name + " <subcommand> [<arg> [value] [opt] ...]. Subcommands are:"}
	for _, sub := range c.subcommands {
		for i, line := range sub.help {
			if i > 0 {
				line = "    " + line
			}
			lines = append(lines, line)
		}
	}
	lines = append(lines, "HELP", "    Prints this help.")
	dst = resp.AppendArray(dst, len(lines))
	for _, line := range lines {
		dst = resp.AppendSimple(dst, line)
	}
	return dst
}

// is reports whether an argument is that word, in any case.
func is(arg []byte, word string) bool {
	return len(arg) == len(word) && bytes.EqualFold(arg, []byte(word))
}

// never returns a handler that refuses.
func never(err error) handler {
	return func(_ *Session, dst []byte, _ [][]byte) []byte { return route.AppendReply(dst, err) }
}
