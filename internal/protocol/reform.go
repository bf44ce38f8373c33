package protocol

// ReformRequest asks a node to give up the ring that it was part of, with the state that belongs to it, and to form
// a new one. Without Rings it only tells how it is.
type ReformRequest struct {
	// Rings are the formations of the rings that are given up, Epoch the highest of their versions.
	Rings []uint64 `json:"rings,omitempty"`
	Epoch uint64   `json:"epoch,omitempty"`
	// Generation is that of the process that is meant.
	Generation uint64 `json:"generation,omitempty"`
	// AcceptLoss: even if it votes.
	AcceptLoss bool `json:"accept_loss,omitempty"`
}

// ReformState is what matters of a node before its ring is given up.
type ReformState struct {
	// Rings are those that it knows, or has given up before; Epoch is the highest of their epochs.
	Rings []uint64 `json:"rings,omitempty"`
	Epoch uint64   `json:"epoch,omitempty"`
	// Generation is that of its data.
	Generation uint64 `json:"generation"`
	// Voting: it has its state. Lost: it has not. Neither: it forms a ring.
	Voting bool `json:"voting,omitempty"`
	Lost   bool `json:"lost,omitempty"`
	// Keys and Bytes are what it holds.
	Keys  uint64 `json:"keys,omitempty"`
	Bytes uint64 `json:"bytes,omitempty"`
	// Refusal says why it cannot give up anything, empty if it can.
	Refusal string `json:"refusal,omitempty"`
}
