package change

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// Encode returns the entry as the log holds it, and as nodes tell it each other. One that
// DecodeEntry would not take is an error, which wraps ErrEntry: whoever proposes what it
// does not understand itself would stop at it.
func (e Entry) Encode() ([]byte, error) {
	b, err := json.Marshal(e)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrEntry, err)
	}
	_, err = DecodeEntry(b)
	return b, err
}

// DecodeEntry reads what Encode has written, and takes nothing that it does not know:
// the error wraps ErrEntry. A later version of this package may know more, and make
// something of it. So whoever applies a log has to stop there: to pass over it, or to
// apply what is known of it, would make another document of the same log.
//
// For the same reason what an entry means never changes. What is to mean something else
// gets a new field.
func DecodeEntry(b []byte) (Entry, error) {
	var e Entry
	d := json.NewDecoder(strings.NewReader(string(b)))
	d.DisallowUnknownFields()
	if err := d.Decode(&e); err != nil {
		return Entry{}, fmt.Errorf("%w: %w", ErrEntry, err)
	}
	if _, err := d.Token(); err != io.EOF {
		return Entry{}, fmt.Errorf("%w: something comes after it", ErrEntry)
	}
	if _, err := e.command(); err != nil {
		return Entry{}, err
	}
	return e, nil
}
