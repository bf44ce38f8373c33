package command

import (
	"strings"

	"github.com/quolldb/quoll/internal/resp"
)

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
	if len(c.KeySpecs) == 0 {
		return dst, true
	}
	if last := &c.KeySpecs[len(c.KeySpecs)-1]; last.Counted {
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
	first, last, step := c.Keys(len(args))
	for i := first; i <= last; i += step {
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
