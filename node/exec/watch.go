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
)

// appendSeen appends what is kept of a key: nothing of one that has expired, which is deleted by whoever finds that out, and then seen as it is.
func appendSeen(dst []byte, rec *record.Record) []byte {
	kind := byte(seenNothing)
	switch {
	case rec.State.Live():
		kind = seenValue
	case rec.State.ExpireAt > 0:
		return dst
	}
	return wire.AppendVersion(append(dst, kind), rec.Version)
}

// same reports whether a key is as it was seen. One that was absent and is absent has not been there meanwhile if its version, which is then that of its tombstone or the
// floor below which tombstones were purged, is not above what was seen. Another key's tombstone may have raised the floor: then nobody can tell, and it counts as changed.
func same(seen []byte, rec *record.Record) bool {
	if len(seen) == 0 || rec.State.ExpireAt > 0 && !rec.State.Live() {
		return false
	}
	if seen[0] != seenNothing || rec.State.Live() {
		return bytes.Equal(seen, appendSeen(nil, rec))
	}
	d := wire.NewDecoder(seen[1:])
	before := d.Version()
	return d.Done() == nil && !before.Less(rec.Version)
}
