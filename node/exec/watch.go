package exec

import (
	"bytes"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/wire"
)

// What WATCH keeps of a key: whether there is a value, and the version. It is opaque to the proxy.
const (
	seenValue   = 'v'
	seenNothing = 'n'
	seenExpired = 'x' // somebody will delete what is not there any more
)

// appendSeen appends what is kept of a key.
func appendSeen(dst []byte, rec *record.Record) []byte {
	kind := byte(seenNothing)
	switch {
	case rec.State.Live():
		kind = seenValue
	case rec.State.ExpireAt > 0:
		kind = seenExpired
	}
	return wire.AppendVersion(append(dst, kind), rec.Version)
}

// same reports whether a key is as it was seen. A key that was not there, and is not there now, may have been there meanwhile if its tombstone is gone: nobody can tell
// then, and nothing that is done on it differs.
func same(seen []byte, rec *record.Record) bool {
	if rec.State.Live() || len(seen) == 0 || seen[0] == seenValue {
		return bytes.Equal(seen, appendSeen(nil, rec))
	}
	return seen[0] == seenExpired || rec.Version.IsZero() || rec.State.ExpireAt > 0 || bytes.Equal(seen, appendSeen(nil, rec))
}
