package register

import (
	"math/bits"
	"slices"
)

// MaxMembers bounds the replicas of a slot, old and new ones of a joint epoch
// counted together.
const MaxMembers = 16

// Config is the replica set of a slot in one epoch. It is immutable.
type Config struct {
	epoch   uint64
	members []uint16 // old and new, the preferred home first
	old     set
	next    set // empty unless joint
}

// set is a set of members, by their index in Config.members.
type set uint32

func (s *set) add(i int)     { *s |= 1 << i }
func (s set) has(i int) bool { return s>>i&1 == 1 }
func (s set) size() int      { return bits.OnesCount32(uint32(s)) }

// NewConfig returns the configuration of an epoch. members are distinct, the
// preferred home first. next is nil, or the members that a joint epoch changes
// to (R16). It panics when the members are none or more than MaxMembers.
func NewConfig(epoch uint64, members, next []uint16) *Config {
	c := &Config{epoch: epoch, members: slices.Clone(members)}
	for i := range members {
		c.old.add(i)
	}
	for _, id := range next {
		i := slices.Index(c.members, id)
		if i < 0 {
			i = len(c.members)
			c.members = append(c.members, id)
		}
		c.next.add(i)
	}
	if len(c.members) == 0 || len(c.members) > MaxMembers {
		panic("register: a slot needs 1 to 16 members")
	}
	return c
}

// Epoch returns the ring epoch of the configuration.
func (c *Config) Epoch() uint64 { return c.epoch }

// Members returns all members, the preferred home first. The slice is shared.
func (c *Config) Members() []uint16 { return c.members }

// Old returns the members without those that join. The slice is shared.
func (c *Config) Old() []uint16 { return c.members[:c.old.size()] }

// Next returns the members that a joint epoch changes to, in the order in which they are members, those that join last; none unless it is one.
func (c *Config) Next() (next []uint16) {
	for i, id := range c.members {
		if c.next.has(i) {
			next = append(next, id)
		}
	}
	return next
}

// Joint reports whether the epoch is a joint one (R16).
func (c *Config) Joint() bool { return c.next != 0 }

// index returns the place of a member, -1 for a stranger.
func (c *Config) index(id uint16) int { return slices.Index(c.members, id) }

// quorum reports whether s holds a majority of the members and, while joint,
// also of the next ones (R16).
func (c *Config) quorum(s set) bool {
	return majority(s, c.old) && (c.next == 0 || majority(s, c.next))
}

// Quorum reports whether those of the members of which has says so are a majority, and while the epoch is joint also one of the next ones (R16).
func (c *Config) Quorum(has func(member uint16) bool) bool {
	var s set
	for i, id := range c.members {
		if has(id) {
			s.add(i)
		}
	}
	return c.quorum(s)
}

// Leaves reports whether a member will not hold the slot any more when the joint epoch is over.
func (c *Config) Leaves(member uint16) bool {
	i := c.index(member)
	return c.next != 0 && i >= 0 && !c.next.has(i)
}

// Preferred is the member that leads the slot if it can: the first that stays, or if none does the first that comes.
func (c *Config) Preferred() uint16 {
	for i, id := range c.members {
		if c.next == 0 || c.next.has(i) {
			return id
		}
	}
	return c.members[0]
}

// all reports whether s holds every member.
func (c *Config) all(s set) bool { return s&(c.old|c.next) == c.old|c.next }

func majority(s, of set) bool { return (s & of).size() > of.size()/2 }
