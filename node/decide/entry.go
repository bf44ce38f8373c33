package decide

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/quolldb/quoll/node/consensus"
	"github.com/quolldb/quoll/ring/change"
)

// logged is an entry as the log holds it. The time is in it, so that all who apply it note the same one.
type logged struct {
	// At is when it was proposed, in milliseconds since 1970, by the clock of who did.
	At    int64           `json:"at"`
	Entry json.RawMessage `json:"entry"`
}

// encodeEntry returns an entry for the log. One that this version does not know itself is an error.
func encodeEntry(at int64, e change.Entry) ([]byte, error) {
	entry, err := e.Encode()
	if err != nil {
		return nil, err
	}
	return json.Marshal(logged{at, entry})
}

// decodeEntry reads what encodeEntry has written, and nothing else: the error wraps consensus.ErrUnknownEntry.
func decodeEntry(b []byte) (at int64, e change.Entry, err error) {
	var l logged
	d := json.NewDecoder(strings.NewReader(string(b)))
	d.DisallowUnknownFields()
	if err = d.Decode(&l); err == nil {
		if _, more := d.Token(); more != io.EOF {
			err = fmt.Errorf("something comes after it")
		}
	}
	if err == nil {
		e, err = change.DecodeEntry(l.Entry)
	}
	if err != nil {
		return 0, e, fmt.Errorf("%w: %w", consensus.ErrUnknownEntry, err)
	}
	return l.At, e, nil
}
