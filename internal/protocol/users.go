package protocol

import "time"

// UsersTime is how long a proxy waits for a node to have users changed.
const UsersTime = 5 * time.Second

// UsersReply says what became of a change of the cluster's users.
type UsersReply struct {
	// Version is that of the ring's document in which the users are so, 0 if they are not.
	Version uint64 `json:"version,omitempty"`
	// Stale: the users have changed since the change was made, and it was refused.
	Stale bool `json:"stale,omitempty"`
	// Refused: the change itself is wrong. Otherwise those who decide could not, or nobody was there to decide.
	Refused bool `json:"refused,omitempty"`
	// Unknown: nobody can tell whether the change was made.
	Unknown bool `json:"unknown,omitempty"`
	// Reason says why it was not made, or why nobody can tell, and what to do.
	Reason string `json:"reason,omitempty"`
}
