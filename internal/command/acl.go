package command

import (
	"slices"
	"strings"
)

// Rules of ACL users speak of every command and subcommand of Redis 7.0, also of those that Quoll refuses: so a user that was made for a Redis is the same here.

// refusedInRules are what Quoll refuses, with what decides about its ACL categories. Subcommands are written with their container.
var refusedInRules = []struct {
	flags      Flags
	categories Categories
	names      string
}{
	{FlagAdmin, 0, `bgrewriteaof bgsave failover psync replconf replicaof save shutdown slaveof sync module|list module|load module|loadex module|unload
		cluster|addslots cluster|addslotsrange cluster|bumpepoch cluster|delslots cluster|delslotsrange cluster|failover cluster|flushslots
		cluster|forget cluster|meet cluster|replicate cluster|reset cluster|saveconfig cluster|set-config-epoch cluster|setslot`},
	{0, 0, `module module|help`},
	{0, CatScripting, "script|debug"},
	{FlagAdmin, CatHyperLogLog, "pfselftest"},
	{FlagAdmin | FlagWrite, CatHyperLogLog, "pfdebug"},
	{FlagFast, CatAdmin | CatDangerous, "lastsave"},
	{FlagWrite, CatKeyspace | CatDangerous, "migrate restore-asking"},
	{FlagWrite | FlagFast, CatKeyspace | CatDangerous, "swapdb"},
}

// numbered are all commands, and behind each its subcommands, by the number that each has.
var numbered = number(all)

// Numbered returns all commands and subcommands of Redis 7.0, those that Quoll refuses included, each at its Number. The slice is shared and must not be changed.
func Numbered() []*Command { return numbered }

// number numbers the commands, and makes descriptions of the subcommands that are refused.
func number(commands []*Command) (list []*Command) {
	for _, c := range commands {
		c.refused = refusedSubcommands(c)
		list = append(list, c)
		subcommands := slices.Concat(c.Subcommands, c.refused)
		slices.SortFunc(subcommands, func(a, b *Command) int { return strings.Compare(a.Name, b.Name) })
		list = append(list, subcommands...)
	}
	for i, c := range list {
		c.Number = i
	}
	describeRefused(list)
	return list
}

// refusedSubcommands returns descriptions of the subcommands that a command is Without.
func refusedSubcommands(c *Command) (list []*Command) {
	for _, without := range c.Without {
		for _, name := range strings.Fields(without.Names) {
			list = append(list, &Command{Name: c.Name + "|" + name, Route: RouteUnsupported, Group: c.Group, Refused: without.Why})
		}
	}
	return list
}

// describeRefused gives what is refused its flags and categories.
func describeRefused(list []*Command) {
	byName := make(map[string]*Command, len(list))
	for _, c := range list {
		byName[c.Name] = c
	}
	for _, row := range refusedInRules {
		for _, name := range strings.Fields(row.names) {
			c := byName[name]
			if c == nil || c.Route != RouteUnsupported {
				panic("command: " + name + " has categories as if it were refused")
			}
			c.Flags, c.Categories = c.Flags|row.flags, c.Categories|row.categories
		}
	}
}

// InRules returns all subcommands of a command that rules of ACL users may name.
func (c *Command) InRules() []*Command {
	from := c.Number + 1
	return numbered[from : from+len(c.Subcommands)+len(c.refused)]
}

// LookupInRules returns the command, or the subcommand as container|subcommand, that a rule names in any case, nil if there is none.
func LookupInRules(name string) *Command {
	container, sub, found := strings.Cut(name, "|")
	c := Lookup([]byte(container))
	if c == nil || !found {
		return c
	}
	for _, one := range c.InRules() {
		if equalFold(one.Name[len(c.Name)+1:], []byte(sub)) {
			return one
		}
	}
	return nil
}

// CalledInRules is Called, and knows the subcommands that Quoll refuses, too.
func (c *Command) CalledInRules(args [][]byte) *Command {
	called := c.Called(args)
	if called != nil || c == nil {
		return called
	}
	for _, one := range c.refused {
		if equalFold(one.Name[len(c.Name)+1:], args[1]) {
			return one
		}
	}
	return nil
}

// CategoryNames returns the names of all ACL categories, without their @, in the order of Redis. The slice is shared and must not be changed.
func CategoryNames() []string { return bareCategories }

var bareCategories = func() (bare []string) {
	for _, name := range categoryNames {
		bare = append(bare, name[1:])
	}
	return bare
}()

// Category returns the ACL category of that name, in any case and without its @; 0 if there is none.
func Category(name string) Categories {
	for i, bare := range bareCategories {
		if equalFold(bare, []byte(name)) {
			return 1 << i
		}
	}
	return 0
}

// changesKey are the flags of keys that are changed.
const changesKey = KeyInsert | KeyDelete | KeyUpdate

// Access says what a user must be allowed to do with a key for a command that uses it so: to read its value, to write it, or neither, which is to touch it.
func (f KeyFlags) Access() (reads, writes bool) { return f&KeyAccess != 0, f&changesKey != 0 }

// EachKey calls for each key of a command with these arguments where it is and what the command does with it, until one returns false. One that says wrongly how many keys it has counts as one without:
// whoever executes it says what is wrong. As KeysAndFlags, but it takes no memory.
func (c *Command) EachKey(args [][]byte, use func(at int, flags KeyFlags) bool) {
	if !c.OnKeys() {
		return
	}
	var buf [8]int
	places, ok := c.keyPlaces(buf[:0], args)
	if !ok {
		return
	}
	for _, at := range places {
		if !use(at, c.keyFlags(at, args)) {
			return
		}
	}
}

// Channels returns which arguments, from one to before another, are channels that a user needs a permission for, and whether they are patterns. There are none in most commands.
func (c *Command) Channels(argc int) (from, to int, patterns bool) {
	switch c.Op {
	case OpSubscribe, OpSSubscribe:
		return 1, argc, false
	case OpPSubscribe:
		return 1, argc, true
	case OpPublish, OpSPublish:
		return 1, min(2, argc), false
	}
	return 0, 0, false
}
