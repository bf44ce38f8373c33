package function

import "strings"

// Function is what is registered under a name.
type Function struct {
	Name        string
	Description string
	// Described says that there is a description, which may be empty.
	Described bool
	Flags     Flags
}

// Library is the code of some functions, which come and go together.
type Library struct {
	Name      string
	Code      []byte
	Functions []Function
}

// Flags are what a function says of itself.
type Flags uint8

// The flags, in the order in which Redis shows them.
const (
	NoWrites           Flags = 1 << iota // it is not allowed to write
	AllowOOM                             // it may run when memory is short
	AllowStale                           // it may run on a replica with old data
	NoCluster                            // not in a Redis Cluster
	AllowCrossSlotKeys                   // it may use keys of several slots in a Redis Cluster
)

var flagNames = [...]string{"no-writes", "allow-oom", "allow-stale", "no-cluster", "allow-cross-slot-keys"}

// Flag returns the flag of a name, in any case.
func Flag(name string) (flag Flags, ok bool) {
	for i, known := range flagNames {
		if strings.EqualFold(known, name) {
			return 1 << i, true
		}
	}
	return 0, false
}

// Strings returns the names of the flags that are set.
func (f Flags) Strings() (names []string) {
	for i, name := range flagNames {
		if f&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
}

// ErrName is the error for a name that no library and no function may have, as a reply.
const ErrName = "ERR Library names can only contain letters, numbers, or underscores(_) and must be at least one character long"

// ValidName reports whether a library, or a function, may have a name.
func ValidName(name string) bool {
	for i := range len(name) {
		c := name[i]
		if c != '_' && (c < '0' || '9' < c) && (c|0x20 < 'a' || 'z' < c|0x20) {
			return false
		}
	}
	return name != ""
}
