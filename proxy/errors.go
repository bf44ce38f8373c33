package proxy

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/quolldb/quoll/internal/resp"
)

// ReplyError is an error that a client sees. Its text begins with the error word
// and says what happened, whether anything was done, and what to do.
//
// To add detail, wrap one of the sentinels with the detail behind it:
// fmt.Errorf("%w (slot 77: 1 of 3 replicas answers)", ErrNoMajority).
type ReplyError struct {
	// Outcome is what the error says about the operation: NoEffect or Unknown.
	Outcome Outcome
	text    string
}

// Error returns the text of the reply, without its leading minus.
func (e *ReplyError) Error() string { return e.text }

func noEffect(text string) *ReplyError { return &ReplyError{Outcome: NoEffect, text: text} }

// What can go wrong between the proxy and the nodes. Client libraries repeat a
// command by themselves on CLUSTERDOWN, TRYAGAIN, LOADING, READONLY, MASTERDOWN and
// NOREPLICAS, so only errors without effect carry these words.
var (
	// ErrNotReady: the proxy does not know the ring yet, or not reach the nodes. What it waits for is said behind it.
	ErrNotReady = noEffect("LOADING this proxy waits for its nodes; nothing was done. " +
		"Check that nodes run where the proxy was told to find them")
	// ErrNoMajority: too few replicas of the slot are alive.
	ErrNoMajority = noEffect("CLUSTERDOWN too few replicas of this key can be reached for a majority; nothing was done. " +
		"See 'quoll ring status' for the nodes that are missing")
	// ErrTimeout: the time was up before the operation could have had an effect.
	ErrTimeout = noEffect("CLUSTERDOWN no majority of this key's replicas answered within the operation time-out; nothing was done. " +
		"Try again, and see 'quoll ring status' if it stays so")
	// ErrRingChanged: the ring changed under the operation before it could have had an effect.
	ErrRingChanged = noEffect("TRYAGAIN the ring is changing; nothing was done. Try again")
	// ErrOverloaded: too much waits for the node already.
	ErrOverloaded = noEffect("TRYAGAIN too many operations are waiting for this key's node; nothing was done. Try again more slowly")
	// ErrStorageFull: the replicas that answer have no room. Its word is the one that
	// Redis has for a disk that takes no writes, on which no client repeats a command by itself.
	ErrStorageFull = noEffect("MISCONF no space left on the disks, or in the memory, of this key's nodes; nothing was done, and reads go on. " +
		"Free space, delete keys, enlarge the disks or --memory; see 'quoll ring status'")
	// ErrUnknownOutcome: a write was sent and nobody can say yet what becomes of it.
	ErrUnknownOutcome = &ReplyError{Outcome: Unknown, text: "UNKNOWN the write was sent but its outcome is not known: " +
		"it may have taken effect, or not, or take effect yet. Read the key before repeating it"}
)

// What the proxy itself refuses.
var (
	errCrossSlot  = noEffect("CROSSSLOT Keys in request don't hash to the same slot")
	errSyntax     = noEffect("ERR syntax error")
	errNotInteger = noEffect("ERR value is not an integer or out of range")
	errNotInt32   = noEffect("ERR value is out of range, value must between -2147483648 and 2147483647")
	errNotStrings = noEffect("ERR The specified keys must contain string values")
	errDBIndex    = noEffect("ERR DB index is out of range")
	errSameObject = noEffect("ERR source and destination objects are the same")
	errNoAuth     = noEffect("NOAUTH Authentication required.")
	errWrongPass  = noEffect("WRONGPASS invalid username-password pair or user is disabled.")
	// errTooManyGuesses says nothing of the password that was given.
	errTooManyGuesses = noEffect("ERR too many wrong passwords came from this address; the password was not looked at. Wait some seconds and try again")
	errNoPassword     = noEffect("ERR AUTH <password> called without any password configured for the default user. Are you sure your configuration is correct?")
	errHelloNoAuth    = noEffect("NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO <proto> AUTH <user> <pass> option can be used to authenticate the client and select the RESP protocol version at the same time")
	errNoProto        = noEffect("NOPROTO unsupported protocol version")
	errClientName     = noEffect("ERR Client names cannot contain spaces, newlines or special characters.")
	errMaxClients     = noEffect("ERR max number of clients reached")
	errPartly         = &ReplyError{Outcome: Unknown, text: "UNKNOWN the command was executed on a part of its keys only"}
	errInternal       = &ReplyError{Outcome: Unknown, text: "UNKNOWN internal error; the connection is closed. The proxy's log has the details"}
	errKeysTooLarge   = noEffect("ERR the reply of KEYS would be larger than the client output limit. Use SCAN, or a narrower pattern")
	errNoCluster      = noEffect("ERR This instance has cluster support disabled")
)

// retried are the words on which client libraries repeat a command by themselves, as far as errors here have them. Some libraries
// repeat all of a pipeline if its first command gets one, though the others were executed.
var retried = [][]byte{[]byte("-CLUSTERDOWN "), []byte("-TRYAGAIN "), []byte("-LOADING ")}

// notDone is the word that takes their place where a command came with others. No library knows it.
const notDone = "NOTDONE"

// isRetried reports whether libraries repeat a command that is answered so.
func isRetried(reply []byte) bool {
	return slices.ContainsFunc(retried, func(word []byte) bool { return bytes.HasPrefix(reply, word) })
}

// AppendReply appends err as an error reply. An error that is no ReplyError is
// shown behind the word ERR.
func AppendReply(dst []byte, err error) []byte {
	var known *ReplyError
	if errors.As(err, &known) {
		return resp.AppendError(dst, err.Error())
	}
	return resp.AppendError(dst, "ERR "+err.Error())
}

// OutcomeOf says what an error means for the operation that it ended: Done for
// nil, Unknown for an error that does not know better.
func OutcomeOf(err error) Outcome {
	if err == nil {
		return Done
	}
	var known *ReplyError
	if errors.As(err, &known) {
		return known.Outcome
	}
	return Unknown
}

// unknownCommand is Redis' error for a command that it does not have.
func unknownCommand(args [][]byte) error {
	var list strings.Builder
	for _, arg := range args[1:] {
		if list.Len() >= 128 {
			break
		}
		fmt.Fprintf(&list, "'%s' ", beginning(arg, 128-list.Len()))
	}
	return noEffect(fmt.Sprintf("ERR unknown command '%s', with args beginning with: %s", beginning(args[0], 128), &list))
}

// shown returns an argument as Redis shows it in the text of an error: as a string of C,
// which ends before the first NUL.
func shown(arg []byte) []byte {
	text, _, _ := bytes.Cut(arg, []byte{0})
	return text
}

// beginning returns the first bytes, n at most, of what is shown of an argument.
func beginning(arg []byte, n int) []byte {
	text := shown(arg)
	return text[:min(n, len(text))]
}

func wrongArity(name string) error {
	return noEffect("ERR wrong number of arguments for '" + name + "' command")
}

// unsupported is the error for commands that Redis 7.0 has and Quoll does not.
func unsupported(name string) error {
	return noEffect("ERR '" + strings.ToUpper(name) + "' is not supported yet by Quoll; nothing was done. The connection can be used on")
}

// errPartlyFlushed: some slots are cleared, others are or may be not.
var errPartlyFlushed = &ReplyError{Outcome: Unknown, text: "UNKNOWN not every slot could be cleared within the operation time-out. " +
	"Repeating FLUSHALL is safe"}

// errOvertaken: a home refused the operation, or was lost with it, but has, or may
// have, executed a later one on the same key. It has no word on which clients repeat a
// command by themselves: that would change the order too.
var errOvertaken = noEffect("ERR this command could not be executed before a later one on the same key in the same pipeline; nothing was done")

// errTooLarge: the operation does not fit into a frame of the peer protocol.
var errTooLarge = noEffect("ERR the command is too large for the cluster's peer protocol; nothing was done")

// The reasons that nodes give, as node/register numbers them. The numbers are part
// of the peer protocol.
const (
	reasonNotMember     = 1
	reasonExpired       = 3
	reasonOverloaded    = 5
	reasonNoQuorum      = 6
	reasonStorageFailed = 8
	reasonNotVoting     = 9
	reasonTooLarge      = 10
	reasonStorageFull   = 11
)

// unable reports whether a node that refused for this reason will refuse the next
// attempt too, so that another one has to take over. That it reaches no majority says
// nothing about the others: it may be the one that is cut off.
func unable(reason uint8) bool {
	switch reason {
	case reasonNotMember, reasonStorageFailed, reasonNotVoting, reasonNoQuorum:
		return true
	}
	return false
}

// refusal returns the error for a reason why a node did not execute an operation
// (nil for ErrTimeout), and whether it is final: otherwise another replica, or the same one
// a little later, may do it.
func refusal(reason uint8) (err *ReplyError, final bool) {
	switch reason {
	case reasonExpired:
		return ErrTimeout, true
	case reasonNoQuorum:
		return ErrNoMajority, false
	case reasonStorageFull:
		return ErrStorageFull, false
	case reasonTooLarge:
		return errTooLarge, true
	}
	return nil, false
}
