package protocol

// Settings are what a node says of how it keeps records, and of how long they may be: in what matters a node that joins must not differ from the members.
type Settings struct {
	// MaxValue and MaxCollection are the lengths in bytes that no command makes a value or a collection exceed.
	MaxValue      int `json:"max_value"`
	MaxCollection int `json:"max_collection"`
	// Keeps says when what the node acknowledges is durable.
	Keeps Durability `json:"keeps"`
}

// Durability is when what a node acknowledges is durable: a higher one promises more.
type Durability int

// The durabilities.
const (
	InMemory   Durability = iota // never
	OnDiskSoon                   // on disk, after a while (--fsync interval=...)
	OnDisk                       // on disk, before it is acknowledged
)

// String says it in words.
func (d Durability) String() string {
	switch d {
	case InMemory:
		return "in memory"
	case OnDiskSoon:
		return "on disk after a while"
	}
	return "on disk"
}
