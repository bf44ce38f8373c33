package command

// Flags are the flags of a command, as COMMAND INFO shows them.
type Flags uint16

// The flags, in the order in which Redis shows them.
const (
	FlagWrite           Flags = 1 << iota // may change data
	FlagReadOnly                          // reads data
	FlagDenyOOM                           // refused when memory is short
	FlagAdmin                             // administration
	FlagPubSub                            // about messages
	FlagNoScript                          // not allowed in scripts
	FlagBlocking                          // may wait
	FlagLoading                           // allowed while data is being loaded
	FlagStale                             // allowed on a replica with old data
	FlagSkipMonitor                       // MONITOR does not show it
	FlagSkipSlowlog                       // its own time says nothing
	FlagFast                              // takes O(1) or O(log N)
	FlagNoAuth                            // allowed before authentication
	FlagNoMandatoryKeys                   // it may have no keys
	FlagMovableKeys                       // its arguments say where the keys are
	FlagAllowBusy                         // allowed while a script blocks the server
)

// Categories are ACL categories.
type Categories uint32

// The categories, in the order in which Redis shows them.
const (
	CatKeyspace Categories = 1 << iota
	CatRead
	CatWrite
	CatSet
	CatSortedSet
	CatList
	CatHash
	CatString
	CatBitmap
	CatHyperLogLog
	CatGeo
	CatStream
	CatPubSub
	CatAdmin
	CatFast
	CatSlow
	CatBlocking
	CatDangerous
	CatConnection
	CatTransaction
	CatScripting
)

// KeyFlags say what a command does with its keys.
type KeyFlags uint16

// The flags of keys, in the order in which Redis shows them.
const (
	KeyRO       KeyFlags = 1 << iota // reads the value, if only its existence
	KeyRW                            // modifies the value
	KeyOW                            // overwrites the value
	KeyRM                            // deletes the key
	KeyAccess                        // returns, copies or uses the user data
	KeyUpdate                        // changes the user data
	KeyInsert                        // adds user data
	KeyDelete                        // deletes user data
	KeyNot                           // it is no key, but is routed as one in a Redis Cluster
	KeyVariable                      // may do less than this, depending on the arguments
)

var (
	flagNames     = []string{"write", "readonly", "denyoom", "admin", "pubsub", "noscript", "blocking", "loading", "stale", "skip_monitor", "skip_slowlog", "fast", "no_auth", "no_mandatory_keys", "movablekeys", "allow_busy"}
	categoryNames = []string{
		"@keyspace", "@read", "@write", "@set", "@sortedset", "@list", "@hash", "@string", "@bitmap", "@hyperloglog", "@geo", "@stream", "@pubsub", "@admin", "@fast", "@slow",
		"@blocking", "@dangerous", "@connection", "@transaction", "@scripting",
	}
	keyFlagNames = []string{"RO", "RW", "OW", "RM", "access", "update", "insert", "delete", "not_key", "variable_flags"}
)

// Strings returns the names of the flags that are set.
func (f Flags) Strings() []string { return names(f, flagNames) }

// Strings returns the names of the categories, each with its @.
func (c Categories) Strings() []string { return names(c, categoryNames) }

// Strings returns the names of the flags that are set.
func (f KeyFlags) Strings() []string { return names(f, keyFlagNames) }

// names returns the names of the bits that are set.
func names[T ~uint16 | ~uint32](set T, all []string) []string {
	var out []string
	for i, name := range all {
		if set&(1<<i) != 0 {
			out = append(out, name)
		}
	}
	return out
}

// ACL returns all categories of the command: its own, and those that follow from
// its flags as in Redis (setImplicitACLCategories).
func (c *Command) ACL() Categories {
	all := c.Categories
	if c.Flags&FlagWrite != 0 {
		all |= CatWrite
	}
	if c.Flags&FlagReadOnly != 0 && c.Categories&CatScripting == 0 {
		all |= CatRead
	}
	if c.Flags&FlagAdmin != 0 {
		all |= CatAdmin | CatDangerous
	}
	if c.Flags&FlagBlocking != 0 {
		all |= CatBlocking
	}
	if c.Flags&FlagFast != 0 {
		return all | CatFast
	}
	return all | CatSlow
}
