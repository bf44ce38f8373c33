package admin

import (
	"time"
	"unicode/utf8"
)

// Location says where a key lives and what each replica holds of it.
type Location struct {
	// Key is the key if it is valid UTF-8, else empty. The handler sets it.
	Key string `json:"key,omitempty"`
	// Key64 is the key; base64 in JSON. The handler sets it.
	Key64 []byte `json:"key64"`
	Slot  uint16 `json:"slot"`
	Epoch uint64 `json:"epoch"`
	// Home names the node that holds the slot's term, empty when nobody does or it is
	// not known.
	Home string `json:"home,omitempty"`
	// Survives is how many more of the replicas may fail; below 0 there is no majority, and commands on the key are refused.
	Survives int `json:"survives"`
	// Replicas are in the order of preference as home.
	Replicas []ReplicaHolding `json:"replicas"`
}

// ReplicaHolding is what one replica says about the key.
type ReplicaHolding struct {
	Node  string `json:"node"`
	State State  `json:"state"`
	// Error says why the replica could not be asked; the fields after Preferred mean
	// nothing then.
	Error string `json:"error,omitempty"`
	// Home: it holds the slot's term.
	Home bool `json:"home"`
	// Preferred: the ring prefers it as home.
	Preferred bool `json:"preferred"`
	// Present: it holds a record of the key.
	Present bool `json:"present"`
	// Tombstone: the record is a deletion.
	Tombstone bool `json:"tombstone"`
	// Version of the record: "counter.member.seq".
	Version string `json:"version,omitempty"`
	// Type is what the TYPE command shows.
	Type string `json:"type,omitempty"`
	// Size of the value in bytes.
	Size int `json:"size"`
	// ExpireAt is null for a key without expiry.
	ExpireAt *time.Time `json:"expire_at"`
	// Digest identifies the state (value, type, expiry): replicas that hold the same version
	// hold the same state.
	Digest string `json:"digest,omitempty"`
	// Promised is the slot's newest term that the replica has promised, Floor the version below which
	// it takes no record that it has not got; neither ever goes back.
	Promised string `json:"promised,omitempty"`
	Floor    string `json:"floor,omitempty"`
}

// Survival says Survives in a sentence without its full stop.
func (l Location) Survival() string {
	if l.Survives < 0 {
		return "It has no majority: commands on it are refused"
	}
	return "It survives " + moreFailures(l.Survives)
}

// of fills in the key that was asked for.
func (l Location) of(key []byte) Location {
	l.Key64 = key
	if utf8.Valid(key) {
		l.Key = string(key)
	}
	return l
}
