package command

// Lookup returns the command of that name in upper, lower or mixed case, nil if
// Redis 7.0 has none. It allocates nothing.
func Lookup(name []byte) *Command {
	if len(name) > maxName {
		return nil
	}
	for i := hash(name); ; i++ {
		c := byName[i%tableSize]
		if c == nil || equalFold(c.Name, name) {
			return c
		}
	}
}

// Ops returns how many numbers there are for operations: all are below, and not each is given.
func Ops() int { return len(byOp) }

// ByOp returns the command with that number, nil if there is none. Unlike Lookup
// it knows the internal commands.
func ByOp(op Op) *Command {
	if int(op) >= len(byOp) {
		return nil
	}
	return byOp[op]
}

// All returns the commands of Redis 7.0, sorted by name. The slice is shared and
// must not be changed.
func All() []*Command { return all }

// Supported returns the commands that Quoll supports, sorted by name: those that
// COMMAND lists. The slice is shared and must not be changed.
func Supported() []*Command { return supported }

const (
	// tableSize is a power of two, several times the number of commands so that
	// nearly every name is found at the first place tried.
	tableSize = 1024
	// maxName is the length of the longest name of a command.
	maxName = len("georadiusbymember_ro")
)

// hash is FNV-1a over the name in lower case. Setting bit 5 of every byte is
// enough of "lower case" here, since equalFold decides.
func hash[T string | []byte](name T) uint32 {
	h := uint32(2166136261)
	for i := 0; i < len(name); i++ {
		h = (h ^ uint32(name[i]|0x20)) * 16777619
	}
	return h ^ h>>16
}

// equalFold reports whether name, its ASCII letters in lower case, is lower.
func equalFold(lower string, name []byte) bool {
	if len(lower) != len(name) {
		return false
	}
	for i := 0; i < len(name); i++ {
		c := name[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}
