package acl

import (
	"maps"
	"slices"

	"github.com/quolldb/quoll/internal/command"
)

// selector permits commands, on some keys and channels. The zero selector permits nothing.
type selector struct {
	// allCommands permits every command without a look at the bits, and future is set by +@all: the user may do what later versions of Quoll can, too.
	allCommands, future bool
	commands            bits
	// firstArgs has, by the number of a command that is not permitted as such, with which first arguments it is.
	firstArgs map[int][]string

	allKeys  bool
	keys     []keyPattern
	channels []string
	// allChannels permits every channel.
	allChannels bool
}

// keyPattern permits to read or write keys, or both.
type keyPattern struct {
	pattern      string
	glob         []byte // the same
	read, writes bool
}

// bits is a set of commands and subcommands, by their numbers.
type bits [8]uint64

func init() {
	if len(command.Numbered()) > len(bits{})*64 {
		panic("acl: there are more commands than bits for them: make type bits longer")
	}
}

func (b *bits) has(number int) bool { return b[number/64]&(1<<(number%64)) != 0 }

func (b *bits) set(number int, on bool) {
	if on {
		b[number/64] |= 1 << (number % 64)
	} else {
		b[number/64] &^= 1 << (number % 64)
	}
}

func (s *selector) clone() *selector {
	other := *s
	other.firstArgs = maps.Clone(s.firstArgs) // its lists are only appended to, with a copy
	other.keys = slices.Clone(s.keys)
	other.channels = slices.Clone(s.channels)
	return &other
}

// permitAll permits every command, or none.
func (s *selector) permitAll(on bool) {
	s.commands, s.firstArgs = bits{}, nil
	s.allCommands, s.future = on, on
	if on {
		s.commands = everything
	}
}

// everything are all bits, those of no command included.
var everything = func() (b bits) {
	for i := range b {
		b[i] = ^uint64(0)
	}
	return b
}()

// permit permits a command with all its subcommands, or forbids it.
func (s *selector) permit(c *command.Command, on bool) {
	s.commands.set(c.Number, on)
	for _, sub := range c.InRules() {
		s.commands.set(sub.Number, on)
	}
	s.allCommands = s.allCommands && on
	delete(s.firstArgs, c.Number)
}

// permitCategory permits the commands of a category, or forbids them. A command of it takes its subcommands along.
func (s *selector) permitCategory(category command.Categories, on bool) {
	for _, c := range command.Numbered() {
		if categories[c.Number]&category != 0 {
			s.permit(c, on)
		}
	}
}

// categories has those of each command, by its number.
var categories = func() (list []command.Categories) {
	for _, c := range command.Numbered() {
		list = append(list, c.ACL())
	}
	return list
}()

// permitWith permits a command if its first argument is that one.
func (s *selector) permitWith(c *command.Command, first string) {
	for _, known := range s.firstArgs[c.Number] {
		if equalFold(known, first) {
			return
		}
	}
	if s.firstArgs == nil {
		s.firstArgs = map[int][]string{}
	}
	s.firstArgs[c.Number] = append(slices.Clone(s.firstArgs[c.Number]), first)
}

// permitKeys adds a pattern of keys. One that is there already permits more than before.
func (s *selector) permitKeys(p keyPattern) {
	s.allKeys = false
	for i := range s.keys {
		if k := &s.keys[i]; k.pattern == p.pattern {
			k.read, k.writes = k.read || p.read, k.writes || p.writes
			return
		}
	}
	s.keys = append(s.keys, p)
}

// permitChannels adds a pattern of channels.
func (s *selector) permitChannels(pattern string) {
	s.allChannels = false
	if !slices.Contains(s.channels, pattern) {
		s.channels = append(s.channels, pattern)
	}
}
