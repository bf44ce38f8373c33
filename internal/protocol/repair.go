package protocol

// RepairRequest asks a node to compare its replicas with those of its peers, and to have what
// they missed written again. That takes longer than a call may: the first call with an ID starts it,
// each further one with it asks how far it is.
type RepairRequest struct {
	// ID is chosen at random by who asks.
	ID uint64 `json:"id"`
	// First and Last are slots.
	First uint16 `json:"first"`
	Last  uint16 `json:"last"`
	// Peer is the name of the only node to compare with, empty for all.
	Peer string `json:"peer,omitempty"`
	// DryRun: nothing is written.
	DryRun bool `json:"dry_run,omitempty"`
	// Cancel ends it instead.
	Cancel bool `json:"cancel,omitempty"`
}

// RepairProgress is how far it is.
type RepairProgress struct {
	// Slots were compared (a slot counts once for each peer), of Total so far; Differing of them
	// differed, and Unreadable more could not be compared because one side's data is damaged.
	Slots      int64 `json:"slots"`
	Total      int64 `json:"total"`
	Differing  int64 `json:"differing"`
	Unreadable int64 `json:"unreadable"`
	// Keys were written again, or would have been, with so many Bytes; Failed could not be.
	Keys   int64 `json:"keys"`
	Bytes  int64 `json:"bytes"`
	Failed int64 `json:"failed"`
	// Waiting: another comparison of this node has to end first.
	Waiting bool `json:"waiting,omitempty"`
	Done    bool `json:"done,omitempty"`
	// Peers says with whom it could not compare, and why; Error, why it did not come to its end.
	Peers map[string]string `json:"peers,omitempty"`
	Error string            `json:"error,omitempty"`
}
