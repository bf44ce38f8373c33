// Package outcome sorts what a Redis client gets for a command by what it knows then: for tests that
// record histories (internal/history).
package outcome

import (
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/quolldb/quoll/internal/history"
)

// Outcome is what a client knows of its command.
type Outcome int

// The outcomes.
const (
	Answered Outcome = iota // by a reply, which may be one of Redis' own errors
	NoEffect                // nothing was done
	Unknown                 // it may have taken effect, or not, or will
)

// Of says what an error of go-redis, or none, means. It takes the words that client libraries repeat a command on for what they
// must mean: nothing was done.
func Of(err error) Outcome {
	var reply redis.Error
	var network *net.OpError
	switch {
	case err == nil, errors.Is(err, redis.Nil):
		return Answered
	case errors.As(err, &network) && network.Op == "dial":
		return NoEffect
	case !errors.As(err, &reply):
		return Unknown
	}
	return OfReply(err.Error())
}

// OfReply says what a reply that is an error means, of which this is the text.
func OfReply(text string) Outcome {
	word, _, _ := strings.Cut(text, " ")
	switch {
	case word == "UNKNOWN":
		return Unknown
	case slices.Contains([]string{"CLUSTERDOWN", "TRYAGAIN", "LOADING", "NOTDONE", "MISCONF"}, word), strings.HasSuffix(text, "; nothing was done"):
		return NoEffect
	}
	return Answered
}

// What Word says of errors that are no replies.
const (
	ClientTimeOut  = "client-time-out"
	ConnectionLost = "connection-lost"
)

// Word sorts the errors of commands: the word of the reply, or what happened to the
// connection.
func Word(err error) string {
	var reply redis.Error
	var network net.Error
	switch {
	case errors.As(err, &reply):
		word, _, _ := strings.Cut(err.Error(), " ")
		return word
	case errors.As(err, &network) && network.Timeout():
		return ClientTimeOut
	case errors.As(err, &network), errors.Is(err, io.EOF):
		return ConnectionLost
	}
	return err.Error()
}

// Reply is a reply as the history knows it.
func Reply(value any, err error) string {
	switch {
	case errors.Is(err, redis.Nil):
		return history.Nil
	case err != nil:
		return err.Error()
	}
	switch value := value.(type) {
	case nil:
		return history.Nil
	case []any:
		return words(value)
	case map[any]any:
		var hash history.Hash
		for field, of := range value {
			hash = hash.Set(fmt.Sprint(field), fmt.Sprint(of))
		}
		return string(hash)
	}
	return fmt.Sprint(value)
}

func words(values []any) string {
	var replies []string
	for _, value := range values {
		replies = append(replies, Reply(value, nil))
	}
	return strings.Join(replies, " ")
}
