package verify

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"

	"github.com/quolldb/quoll/internal/history"
)

// answer is a reply: a value or number as text, or null. Of several the text has all, separated by spaces, as package history
// has them.
type answer struct {
	text string
	null bool
}

// String shows it in a message.
func (a answer) String() string {
	if a.null {
		return "nothing"
	}
	return fmt.Sprintf("%.60q", a.text)
}

// word is the answer among others: nobody writes values that are empty or have a blank, and who answers with one is seen.
func (a answer) word() string {
	switch {
	case a.null:
		return history.Nil
	case a.text == "" || strings.ContainsAny(a.text, " \t\r\n\v\f"):
		return strings.ReplaceAll(strconv.Quote(a.text), " ", `\x20`)
	}
	return a.text
}

// store is what is verified. Do sends a command to one of its addresses once, and waits for the answer. The error is nil, wraps
// errUnknown, or says why nothing was done.
type store interface {
	addresses() int
	do(ctx context.Context, address int, args ...any) (answer, error)
	// hold returns a session with an address, which the caller ends.
	hold(ctx context.Context, address int) (session, error)
}

// errUnknown: nobody knows what became of a command.
var errUnknown = errors.New("the outcome is not known")

// refusal is an error that the server answered.
type refusal string

func (r refusal) Error() string { return string(r) }

// noSuchKey is what RENAME says if there is nothing to rename.
const noSuchKey = "ERR no such key"

// asReply is an error that is as good as a value: what a command answers if it finds something of another kind than it wants. It is "" for
// others.
func asReply(err error) string {
	for _, reply := range []string{history.NotInteger, history.FieldNotInteger, history.WrongType, noSuchKey} {
		if err != nil && strings.HasPrefix(err.Error(), reply) {
			return reply
		}
	}
	return ""
}

// reads reports whether a command only reads.
func reads(command any) bool {
	name, _ := command.(string)
	switch name {
	case "MGET", "WATCH", "SUNION", "SINTER":
		return true
	}
	return history.Kind(name).Reads()
}

// explain says in a line why an address cannot be verified.
func explain(address string, err error) error {
	var reply refusal
	var network *net.OpError
	switch {
	case errors.As(err, &reply) && strings.HasPrefix(reply.Error(), "NOAUTH"):
		return fmt.Errorf("%s wants a password: give --password-file", address)
	case errors.As(err, &reply) && strings.HasPrefix(reply.Error(), "WRONGPASS"), errors.As(err, &reply) && strings.Contains(reply.Error(), "AUTH"):
		return fmt.Errorf("%s does not take the password: %w", address, err)
	case errors.As(err, &reply):
		return fmt.Errorf("%s refuses a write: %w", address, err)
	case errors.As(err, &network) && network.Op == "dial":
		return fmt.Errorf("cannot connect to %s: %w; is a proxy or server listening there?", address, network.Err)
	case errors.As(err, &network) && network.Timeout(), errors.Is(err, io.EOF), errors.As(err, &network):
		return fmt.Errorf("%s does not answer as a Redis server does: %w", address, err)
	}
	return fmt.Errorf("%s is not a Redis server: %w", address, err)
}
