package protocol

import "time"

// DecisionTime is how long a proxy waits for a node to have users, or parameters, of the cluster changed.
const DecisionTime = 5 * time.Second

// DecisionReply says what became of a change that a proxy has asked for: of the cluster's users, or its parameters.
type DecisionReply struct {
	// Version is that of the ring's document in which it is so, 0 if it was not changed.
	Version uint64 `json:"version,omitempty"`
	// Stale: there was another change since this one was made, and it was refused.
	Stale bool `json:"stale,omitempty"`
	// Nothing: it was so already, and stays so.
	Nothing bool `json:"nothing,omitempty"`
	// Refused: the change itself is wrong. Otherwise those who decide could not, or nobody was there to decide.
	Refused bool `json:"refused,omitempty"`
	// Unknown: nobody can tell whether the change was made.
	Unknown bool `json:"unknown,omitempty"`
	// Reason says why it was not made, or why nobody can tell, and what to do.
	Reason string `json:"reason,omitempty"`
}
