package command

// ReadingOp returns the command that does the same as one that may store what it finds (SORT, GEORADIUS), and only reads; ok is false if there is none, or if an argument may
// be the word that asks for storing. So what only reads need not go through the home of its slot.
func (c *Command) ReadingOp(args [][]byte) (op Op, ok bool) {
	if c.Reading == OpNone {
		return OpNone, false
	}
	for _, arg := range args[1:] {
		if equalFold("store", arg) || equalFold("storedist", arg) {
			return OpNone, false
		}
	}
	return c.Reading, true
}
