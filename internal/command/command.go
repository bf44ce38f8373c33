package command

// Route says how Quoll executes a command.
type Route uint8

// The routes.
const (
	// RouteUnsupported: Redis 7.0 has the command, Quoll does not yet.
	RouteUnsupported Route = iota
	// RouteProxy: the proxy answers by itself.
	RouteProxy
	// RouteRead: one key, a quorum read.
	RouteRead
	// RouteWrite: one key, through the home of its slot.
	RouteWrite
	// RouteSplit: several keys, each executed as a command on one key and the
	// replies combined; atomic per key, not across keys.
	RouteSplit
	// RouteGather: several keys are read, at one moment if they are in one slot, and the answer
	// computed of their values (LCS, SINTER).
	RouteGather
	// RouteSlot: several keys of one slot, at once, through the home of the slot (RENAME,
	// SINTERSTORE). It is sent as a Batch.
	RouteSlot
	// RouteWait: one or more keys, of which one is changed as soon as it is there, through the home of its slot (BLPOP). They may be in
	// different slots. In a transaction it is a command of RouteSlot.
	RouteWait
	// RouteCluster: concerns every slot (SCAN, DBSIZE, FLUSHALL, ...).
	RouteCluster
)

// Command describes one command or subcommand. The descriptions are shared and
// must not be changed.
type Command struct {
	// Name is in lower case; that of a subcommand is "container|subcommand".
	Name string
	// Op is OpNone for subcommands and for commands that are not supported.
	Op    Op
	Route Route
	// Reading is the command that does the same without storing anything, OpNone if there is none: see ReadingOp.
	Reading Op
	// Arity is the number of arguments including the name (and the subcommand's
	// name), negative if it is a minimum.
	Arity int
	Flags Flags
	// Categories are the ACL categories that do not follow from Flags; see ACL.
	Categories Categories
	// KeySpecs say where the keys are, in ascending order and without gaps.
	KeySpecs []KeySpec
	// Tips tell clients of clusters how to route the command.
	Tips []string
	// Subcommands of a container command, those that Quoll supports, by name.
	Subcommands []*Command

	// Group is the section of the Redis documentation.
	Group string
	// Since is the Redis version that introduced the command.
	Since, Summary, Complexity string
	// DeprecatedSince and ReplacedBy are empty for commands that are not deprecated.
	DeprecatedSince, ReplacedBy string

	// What COMPATIBILITY.md, which is made of this table, says of a command that is not as in Redis 7.0, as the end of a sentence that
	// begins with its name. Differs are replies that are not Redis': a test that compares with a redis-server allows these, and demands that they are
	// seen. Limits are all else. Both are empty for a command that is whole.
	Differs, Limits string
	// Refused says why a command is not supported. It is empty for those that are.
	Refused string
	// Without are the subcommands of Redis 7.0 that Quoll refuses.
	Without []Without

	// Number tells commands and subcommands from one another, from 0 and without gaps. It is of this process: never send it.
	Number  int
	refused []*Command // the subcommands that Without names
}

// Without are subcommands that Quoll refuses, and why.
type Without struct {
	Why string
	// Names are theirs without that of the container, between spaces.
	Names string
}

// KeySpec says where a command has keys among its arguments.
type KeySpec struct {
	// First is the index of the first key, the command's name being 0. Last is the
	// index of the last key; a negative one counts from the end, -1 being the last
	// argument. Step is the distance between two keys.
	First, Last, Step int
	// Counted: First is the index of the number of keys, which are behind it one after the other (SINTERCARD).
	Counted bool
	// Keyword: the keys are behind this word, which may be anywhere from First on: one, or, with a Limit, a part of all that is behind it. As those of Unknown, such specifications come last.
	Keyword string
	// Limit says, behind a Keyword, which part of the arguments are keys: 2 is the first half.
	Limit int
	// Unknown: where the keys are does not follow from where arguments are. Notes say more. Such specifications come last.
	Unknown bool
	Flags   KeyFlags
	Notes   string
}

// ArityOK reports whether a command of n arguments, its name included, has an
// acceptable number of them. The key-value pairs of MSET must be complete: Redis
// answers with the same error when they are not.
func (c *Command) ArityOK(n int) bool {
	if !c.Enough(n) {
		return false
	}
	first, last, step := c.Positions()
	return last != -1 || (n-first)%step == 0
}

// Enough reports whether a command of n arguments, its name included, has as many as Redis demands before it executes it. It is ArityOK without a look at pairs.
func (c *Command) Enough(n int) bool {
	if c.Arity >= 0 {
		return n == c.Arity
	}
	return n >= -c.Arity
}

// Positions returns the key positions as COMMAND INFO shows them: last may count
// from the end, and all are 0 for a command without keys, or with as many as an argument says.
func (c *Command) Positions() (first, last, step int) {
	if len(c.KeySpecs) == 0 || c.KeySpecs[0].Counted || c.KeySpecs[0].Limit > 0 {
		return 0, 0, 0
	}
	head, tail := &c.KeySpecs[0], &c.KeySpecs[0]
	for i := range c.KeySpecs {
		if k := &c.KeySpecs[i]; !k.Unknown && !k.Counted && k.Keyword == "" {
			tail = &c.KeySpecs[i]
		}
	}
	return head.First, tail.Last, head.Step
}

// Keys returns the indexes of the first and the last key of a command with argc
// arguments (which ArityOK accepted), and the distance between keys. All are 0
// for a command without keys.
func (c *Command) Keys(argc int) (first, last, step int) {
	first, last, step = c.Positions()
	if last < 0 {
		// With a step above 1 the last key is not the last argument.
		last = argc + last
		last -= (last - first) % step
	}
	return first, last, step
}

// Called returns what args call: c, or its subcommand; nil if it has none of that name. c may be nil.
func (c *Command) Called(args [][]byte) *Command {
	if c == nil || len(c.Subcommands) == 0 || len(args) < 2 {
		return c
	}
	return c.Subcommand(args[1])
}

// Subcommand returns the subcommand of a container command, nil if c has none of
// that name (in any case).
func (c *Command) Subcommand(name []byte) *Command {
	for _, sub := range c.Subcommands {
		if equalFold(sub.Name[len(c.Name)+1:], name) {
			return sub
		}
	}
	return nil
}
