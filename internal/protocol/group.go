package protocol

// GroupState is what a node tells of its part in the group that decides on the ring (MethodGroup), to one that is to found it again.
type GroupState struct {
	// Version is that of the ring that the node knows, Refounded when the group that it is in was founded.
	Version   uint64 `json:"version"`
	Refounded uint64 `json:"refounded,omitempty"`
	// Its log ends with the entry Index of the term Term, if it has any: whether it is one of those who decide does not matter.
	Term  uint64 `json:"term,omitempty"`
	Index uint64 `json:"index,omitempty"`
	// Problem is why it takes no part.
	Problem string `json:"problem,omitempty"`
}
