package command

import "slices"

// AllKeys returns the keys of a command with these arguments (which ArityOK accepted), as COMMAND GETKEYS shows them, those that it stores into included. It
// reports false if there are not as many as it says. The keys are views of the arguments.
func (c *Command) AllKeys(args [][]byte) (keys [][]byte, ok bool) {
	if len(c.KeySpecs) == 0 {
		return nil, true
	}
	if last := &c.KeySpecs[len(c.KeySpecs)-1]; last.Counted {
		if keys, ok = last.counted(c, args); ok && len(c.KeySpecs) > 1 { // what it stores into is its first argument
			keys = slices.Concat(args[1:2], keys)
		}
		return keys, ok
	}
	if stores := c.storedInto(args); len(stores) > 0 {
		return append([][]byte{args[1]}, stores...), true
	}
	first, last, step := c.Keys(len(args))
	for i := first; i <= last; i += step {
		keys = append(keys, args[i])
	}
	return keys, true
}

// storedInto returns the keys that an option of SORT or GEORADIUS says, which is where they store.
func (c *Command) storedInto(args [][]byte) (keys [][]byte) {
	if store := c.sortedInto(args); store != nil {
		return [][]byte{store}
	}
	for i := range c.KeySpecs {
		if key := c.KeySpecs[i].Behind(args); key != nil {
			keys = append(keys, key)
		}
	}
	return keys
}

// sortedInto returns the key behind the last STORE of SORT, nil if there is none. As in Redis nothing else of the options is looked at, and what is behind STORE may be
// another option.
func (c *Command) sortedInto(args [][]byte) (store []byte) {
	if c.Op != OpSort {
		return nil
	}
	for i := 2; i < len(args); i++ {
		switch {
		case equalFold("limit", args[i]):
			i += 2
		case equalFold("get", args[i]), equalFold("by", args[i]):
			i++
		case equalFold("store", args[i]) && i+1 < len(args):
			store = args[i+1]
		}
	}
	return store
}
