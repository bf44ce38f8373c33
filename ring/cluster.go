package ring

import (
	"cmp"
	"encoding/binary"
	"hash/fnv"
	"slices"
)

// Member is one node of the cluster.
type Member struct {
	// ID is short for the member's identity: at least 1, unique in the cluster, and
	// never given to another member. In an initial cluster it is the position in
	// the list sorted by name, starting at 1.
	ID uint16 `json:"id"`
	// Name is chosen by the operator and decides which slots the member gets.
	Name string `json:"name"`
	// Peer is the host:port of the peer protocol, Gossip that of ring/gossip. Gossip
	// may be empty where it is not known.
	Peer   string `json:"peer"`
	Gossip string `json:"gossip,omitempty"`
	// Rack names what fails together. Replicas of a slot are spread over racks.
	// Members that give none share the rack "".
	Rack string `json:"rack,omitempty"`
	// Weight is the member's share of the data relative to the others', 1 to MaxWeight.
	Weight int `json:"weight"`
	// Generation identifies one life of the member's data. A member that lost its
	// state comes back with another generation.
	Generation uint64 `json:"generation,omitempty"`
}

// Cluster is all that decides who owns what, at one epoch. It is a value: whoever
// has one does not change its Members, but makes another Cluster.
type Cluster struct {
	Name string `json:"name"`
	// Epoch numbers the changes of the cluster, starting at 1.
	Epoch uint64 `json:"epoch"`
	// Replicas is how many members hold each slot, 1 to MaxReplicas.
	Replicas int      `json:"replicas"`
	Members  []Member `json:"members"`
}

// Member returns the member with the ID.
func (c Cluster) Member(id uint16) (Member, bool) {
	return c.find(func(m Member) bool { return m.ID == id })
}

// ByName returns the member with the name.
func (c Cluster) ByName(name string) (Member, bool) {
	return c.find(func(m Member) bool { return m.Name == name })
}

func (c Cluster) find(is func(Member) bool) (Member, bool) {
	if i := slices.IndexFunc(c.Members, is); i >= 0 {
		return c.Members[i], true
	}
	return Member{}, false
}

// Equal reports whether the two clusters are the same in everything but the order
// of their members.
func (c Cluster) Equal(d Cluster) bool {
	return c.Name == d.Name && c.Epoch == d.Epoch && c.Replicas == d.Replicas &&
		slices.Equal(c.sorted(), d.sorted())
}

// Digest returns a number that is the same for equal clusters, on every machine
// and in every version of Quoll, and most probably different for others.
func (c Cluster) Digest() uint64 {
	b := appendText(nil, c.Name)
	b = binary.BigEndian.AppendUint64(b, c.Epoch)
	b = binary.BigEndian.AppendUint64(b, uint64(c.Replicas))
	for _, m := range c.sorted() {
		b = binary.BigEndian.AppendUint16(b, m.ID)
		b = appendText(b, m.Name)
		b = appendText(b, m.Peer)
		b = appendText(b, m.Gossip)
		b = appendText(b, m.Rack)
		b = binary.BigEndian.AppendUint64(b, uint64(m.Weight))
		b = binary.BigEndian.AppendUint64(b, m.Generation)
	}
	return digest(b)
}

// sorted returns the members by name: the order in which everything that must not
// depend on the order looks at them.
func (c Cluster) sorted() []Member {
	return slices.SortedFunc(slices.Values(c.Members), func(a, b Member) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID))
	})
}

// appendText appends the length before the bytes, so that no two lists of texts
// look alike.
func appendText(b []byte, s string) []byte {
	return append(binary.BigEndian.AppendUint32(b, uint32(len(s))), s...)
}

func digest(b []byte) uint64 {
	h := fnv.New64a()
	h.Write(b)
	return h.Sum64()
}
