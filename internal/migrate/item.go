package migrate

import (
	"errors"
	"fmt"
	"strings"

	"github.com/quolldb/quoll/internal/rdb"
)

// item is a key on its way.
type item struct {
	key string
	// payload is its value as DUMP returns it, empty if there is none (any more).
	payload string
	// expireAt is when it expires, in milliseconds since 1970, 0 if never.
	expireAt int64
	// fault says why it cannot be copied, if that is known before it is tried.
	fault error
	// tried: it was sent before, and nobody knows what became of it.
	tried bool
}

// outcome is what became of a key.
type outcome uint8

const (
	copied      outcome = iota
	same                // it was there already, with the same value
	existing            // it is there with another one
	expired             // it expired, or was deleted, before it was copied
	unsupported         // of a type that Quoll does not have
	tooLong             // longer than the target takes
	refused             // the target has refused it
)

// outcomeOf returns what becomes of an item that is not sent. sent: it is.
func (i *item) outcomeOf(now int64, longest int) (what outcome, why string, sent bool) {
	switch {
	case errors.Is(i.fault, rdb.ErrKind):
		return unsupported, "a type that Quoll does not have: " + strings.TrimPrefix(i.fault.Error(), rdb.ErrKind.Error()+": "), false
	case errors.Is(i.fault, rdb.ErrTooLong), len(i.payload) > longest:
		return tooLong, fmt.Sprintf("its value is longer than the target takes, %d bytes", longest), false
	case i.fault != nil:
		return refused, i.fault.Error(), false
	case i.payload == "", i.expireAt != 0 && i.expireAt <= now:
		return expired, "", false
	}
	return 0, "", true
}
