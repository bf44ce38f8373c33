package acl

import (
	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/scan"
)

// Denial says why a user may not execute a command. Greater ones say more: a later selector would have permitted the command, but not its keys.
type Denial uint8

// The denials.
const (
	// Allowed: it may.
	Allowed Denial = iota
	// DeniedCommand: it may not execute the command at all.
	DeniedCommand
	// DeniedKey: one of the keys may not be used, at least not so.
	DeniedKey
	// DeniedAuth: it is not the user that it says it is.
	DeniedAuth
	// DeniedChannel: one of the channels may not be used.
	DeniedChannel
)

var denialNames = []string{"allowed", "command", "key", "auth", "channel"}

// String returns the reason as ACL LOG calls it.
func (d Denial) String() string { return denialNames[d] }

// Check reports whether the user may execute a command or subcommand; of one that has too few arguments no key is looked at. If not, at is which of the arguments, the name included, is the key or the channel
// that decided.
func (u *User) Check(c *command.Command, args [][]byte) (denial Denial, at int) {
	if u.unrestricted {
		return Allowed, 0
	}
	denial = DeniedCommand
	for _, s := range u.selectors {
		why, which := s.check(c, args)
		if why == Allowed {
			return Allowed, 0
		}
		if why > denial || why == denial && which > at {
			denial, at = why, which
		}
	}
	return denial, at
}

func (s *selector) check(c *command.Command, args [][]byte) (denial Denial, at int) {
	if !s.permits(c, args) {
		return DeniedCommand, 0
	}
	if !s.allKeys && c.Enough(len(args)) {
		denied := -1
		c.EachKey(args, func(at int, flags command.KeyFlags) bool {
			if !s.permitsKey(args[at], flags) {
				denied = at
			}
			return denied < 0
		})
		if denied >= 0 {
			return DeniedKey, denied
		}
	}
	if s.allChannels {
		return Allowed, 0
	}
	from, to, patterns := c.Channels(len(args))
	for at := from; at < to; at++ {
		if !s.permitsChannel(args[at], patterns) {
			return DeniedChannel, at
		}
	}
	return Allowed, 0
}

// permits reports whether a command is permitted, whatever its keys. What makes a user of a client is always.
func (s *selector) permits(c *command.Command, args [][]byte) bool {
	if s.allCommands || c.Flags&command.FlagNoAuth != 0 || s.commands.has(c.Number) {
		return true
	}
	if len(args) < 2 || s.firstArgs == nil {
		return false
	}
	for _, first := range s.firstArgs[c.Number] {
		if equalFold(first, cString(string(args[1]))) {
			return true
		}
	}
	return false
}

// permitsKey reports whether a key may be used so. As for channels no pattern but the empty one matches what is empty.
func (s *selector) permitsKey(key []byte, flags command.KeyFlags) bool {
	reads, writes := flags.Access()
	for i := range s.keys {
		k := &s.keys[i]
		if (k.read || !reads) && (k.writes || !writes) && scan.MatchChannel(k.glob, key) {
			return true
		}
	}
	return false
}

// permitsChannel reports whether a channel may be used. A pattern may only be if it is permitted by the same words.
func (s *selector) permitsChannel(channel []byte, isPattern bool) bool {
	for _, pattern := range s.channels {
		if isPattern && pattern == string(channel) || !isPattern && scan.MatchChannel([]byte(pattern), channel) {
			return true
		}
	}
	return false
}

// PermitsChannel reports whether the user may hear of a channel, or of what matches a pattern.
func (u *User) PermitsChannel(channel []byte, isPattern bool) bool {
	for _, s := range u.selectors {
		if s.allChannels || s.permitsChannel(channel, isPattern) {
			return true
		}
	}
	return false
}

// LosesChannels reports whether there may be channels that this user may hear of, and the one that it becomes may not: not all of its patterns are among those of that one.
func (u *User) LosesChannels(next *User) bool {
	upcoming := map[string]bool{}
	for _, s := range next.selectors {
		if s.allChannels {
			return false
		}
		for _, pattern := range s.channels {
			upcoming[pattern] = true
		}
	}
	for _, s := range u.selectors {
		if s.allChannels {
			return true
		}
		for _, pattern := range s.channels {
			if !upcoming[pattern] {
				return true
			}
		}
	}
	return false
}

// ReadsAllKeys reports whether the user may execute a command and read every key: one of its selectors permits both.
func (u *User) ReadsAllKeys(c *command.Command, args [][]byte) bool {
	if u.unrestricted {
		return true
	}
	for _, s := range u.selectors {
		if denial, _ := s.check(c, args); denial == Allowed && s.readsAllKeys() {
			return true
		}
	}
	return false
}

func (s *selector) readsAllKeys() bool {
	if s.allKeys {
		return true
	}
	for _, k := range s.keys {
		if k.read && k.pattern == "*" {
			return true
		}
	}
	return false
}
