package protocol

import "github.com/quolldb/quoll/internal/database"

// FindKey is the payload of a MethodFindKey call: is there a key of a database, as it is placed? Whoever is asked answers as it works by a version of the ring, or a later one.
type FindKey struct {
	Version  uint64      `json:"version"`
	Database database.ID `json:"database"`
}

// FoundKey is the reply: a key, by the client's name, if there is one.
type FoundKey struct {
	Found bool   `json:"found"`
	Key   []byte `json:"key,omitempty"`
}
