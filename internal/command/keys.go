package command

import (
	"strings"

	"github.com/quolldb/quoll/internal/resp"
)

// OnKeys reports whether a command has keys, or may have some. Channels of shards stand where keys do, and are none.
func (c *Command) OnKeys() bool { return len(c.KeySpecs) > 0 && c.KeySpecs[0].Flags&KeyNot == 0 }

// AllKeys returns the keys of a command with these arguments (which ArityOK accepted), as COMMAND GETKEYS shows them, those that it stores into included. It
// reports false if there are not as many as it says. The keys are views of the arguments.
func (c *Command) AllKeys(args [][]byte) (keys [][]byte, ok bool) {
	var buf [8]int
	places, ok := c.keyPlaces(buf[:0], args)
	if len(places) == 0 {
		return nil, ok
	}
	keys = make([][]byte, len(places))
	for i, at := range places {
		keys[i] = args[at]
	}
	return keys, ok
}

// keyPlaces appends where among the arguments the keys are that AllKeys returns.
func (c *Command) keyPlaces(dst []int, args [][]byte) (places []int, ok bool) {
	if !c.OnKeys() {
		return dst, true
	}
	last := &c.KeySpecs[len(c.KeySpecs)-1]
	switch {
	case last.Limit > 0:
		first, behind := streamKeys(args)
		if behind == 0 || behind%2 != 0 { // an ID is missing
			return dst, false
		}
		for i := range behind / 2 {
			dst = append(dst, first+i)
		}
		return dst, true
	case last.Counted:
		n, ok := last.counted(c, args)
		if !ok {
			return dst, false
		}
		if len(c.KeySpecs) > 1 { // what it stores into is its first argument
			dst = append(dst, 1)
		}
		for i := range n {
			dst = append(dst, last.First+1+i)
		}
		return dst, true
	}
	first, end, step := c.Keys(len(args))
	for i := first; i <= end; i += step {
		dst = append(dst, i)
	}
	return c.storedInto(dst, args), true
}

// storedInto appends where the keys are that an option of SORT or GEORADIUS says, which is where they store.
func (c *Command) storedInto(dst []int, args [][]byte) []int {
	if at := c.sortedInto(args); at > 0 {
		return append(dst, at)
	}
	for i := range c.KeySpecs {
		if at := c.KeySpecs[i].behind(args); at > 0 {
			dst = append(dst, at)
		}
	}
	return dst
}

// sortedInto returns where the key is behind the last STORE of SORT, 0 if there is none. As in Redis nothing else of the options is looked at, and what is behind STORE
// may be another option.
func (c *Command) sortedInto(args [][]byte) (at int) {
	if c.Op != OpSort {
		return 0
	}
	for i := 2; i < len(args); i++ {
		switch {
		case equalFold("limit", args[i]):
			i += 2
		case equalFold("get", args[i]), equalFold("by", args[i]):
			i++
		case equalFold("store", args[i]) && i+1 < len(args):
			at = i + 1
		}
	}
	return at
}

// counted returns how many keys an argument of a command (which ArityOK accepted) says that there are, and whether there are as many. Scripts may have none.
func (k *KeySpec) counted(c *Command, args [][]byte) (n int, ok bool) {
	least := int64(1)
	if OpEval <= c.Op && c.Op <= OpFCallRO || c.Op == OpCall || c.Op == OpCallRO {
		least = 0
	}
	said, ok := resp.ParseInt(args[k.First])
	if !ok || said < least || said > int64(len(args)-k.First-1) {
		return 0, false
	}
	return int(said), true
}

// behind returns where the key is behind the first Keyword among the arguments of a command, 0 if there is none.
func (k *KeySpec) behind(args [][]byte) int {
	if k.Keyword == "" {
		return 0
	}
	for i := k.First; i+1 < len(args); i++ {
		if equalFold(strings.ToLower(k.Keyword), args[i]) {
			return i + 1
		}
	}
	return 0
}

// KeysAndFlags returns the keys of a command, as AllKeys, and what it does with each. As in Redis that of SET and BITFIELD follows from their arguments.
func (c *Command) KeysAndFlags(args [][]byte) (keys [][]byte, flags []KeyFlags, ok bool) {
	var buf [8]int
	places, ok := c.keyPlaces(buf[:0], args)
	if !ok {
		return nil, nil, false
	}
	for _, at := range places {
		keys, flags = append(keys, args[at]), append(flags, c.keyFlags(at, args))
	}
	return keys, flags, true
}

// keyFlags returns what the command does with the key at that place.
func (c *Command) keyFlags(at int, args [][]byte) KeyFlags {
	switch c.Op {
	case OpSet:
		if hasOption("get", args[3:]) {
			return KeyRW | KeyAccess | KeyUpdate
		}
		return KeyOW | KeyUpdate
	case OpBitField:
		if onlyGets(args[2:]) {
			return KeyRO | KeyAccess
		}
		return KeyRW | KeyAccess | KeyUpdate
	}
	for i := range c.KeySpecs {
		k := &c.KeySpecs[i]
		last := k.Last
		if last < 0 {
			last += len(args)
		}
		if byPlace := !k.Unknown && k.Keyword == ""; byPlace && (k.Counted && at > k.First || !k.Counted && k.First <= at && at <= last) {
			return k.Flags
		}
	}
	return c.KeySpecs[len(c.KeySpecs)-1].Flags // what an option says where to store
}

// onlyGets reports whether these are operations of BITFIELD that change nothing.
func onlyGets(args [][]byte) bool {
	for len(args) > 0 {
		switch left := len(args) - 1; {
		case equalFold("get", args[0]) && left >= 2:
			args = args[3:]
		case equalFold("overflow", args[0]) && left >= 1:
			args = args[2:]
		default:
			return false
		}
	}
	return true
}

// hasOption reports whether a word is among arguments.
func hasOption(word string, args [][]byte) bool {
	for _, arg := range args {
		if equalFold(word, arg) {
			return true
		}
	}
	return false
}
