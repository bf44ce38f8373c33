package decide

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/quolldb/quoll/node/consensus"
	"github.com/quolldb/quoll/ring/change"
)

// outcome is what became of a proposal, as it is told to whoever made it: as the result of its entry, or by a node that proposed it for another one.
type outcome struct {
	// Version is that of the document since then.
	Version uint64 `json:"version,omitempty"`
	// Code says which error it was, Text all of it.
	Code string `json:"code,omitempty"`
	Text string `json:"text,omitempty"`
}

// code is an error that others may have to tell from others, and its word on the wire, which never changes.
type code struct {
	word string
	err  error
}

// codes are those of the changes that were refused.
var codes = []code{
	{"entry", change.ErrEntry}, {"impossible", change.ErrImpossible}, {"unknown", change.ErrUnknown}, {"not_waiting", change.ErrNotWaiting},
	{"not_member", change.ErrNotMember}, {"staged", change.ErrStagedAlready}, {"name_taken", change.ErrNameTaken}, {"address_taken", change.ErrAddressTaken},
	{"other_life", change.ErrOtherLife}, {"full", change.ErrFull}, {"nothing", change.ErrNothing}, {"nothing_staged", change.ErrNothingStaged},
	{"aborting", change.ErrAborting}, {"no_plan", change.ErrNoPlan}, {"other_plan", change.ErrOtherPlan}, {"paused", change.ErrPaused},
	{"stale", change.ErrStale}, {"rejoining", change.ErrRejoining}, {"loss_accepted", change.ErrLossAccepted}, {"other_cluster", change.ErrOtherCluster},
	{"still_holds", change.ErrStillHolds}, {"no_loss", change.ErrNoLoss}, {"loss", change.ErrLoss}, {"users_stale", change.ErrUsersStale}, {"parameters_stale", change.ErrParametersStale}, {"user_size", change.ErrUserSize}, {"encoding", change.ErrEncoding},
	{"refused", consensus.ErrRefused},
}

// groupCodes are those of the group that could not decide.
var groupCodes = []code{
	{"no_leader", consensus.ErrNoLeader}, {"outcome_unknown", consensus.ErrUnknown}, {"too_large", consensus.ErrTooLarge},
	{"busy", consensus.ErrBusy}, {"closed", consensus.ErrClosed},
}

// maxText bounds the text of an error: the group keeps results for a while.
const maxText = 400

func encodeOutcome(version uint64, err error) []byte {
	o := outcome{Version: version}
	if err != nil {
		o.Code, o.Text = "refused", err.Error()
		for _, c := range slices.Concat(codes, groupCodes) {
			if errors.Is(err, c.err) {
				o.Code = c.word
				break
			}
		}
		if len(o.Text) > maxText {
			o.Text = strings.ToValidUTF8(o.Text[:maxText-3], "") + "..."
		}
	}
	b, err := json.Marshal(o)
	if err != nil {
		panic(err) // numbers and strings
	}
	return b
}

// decodeOutcome returns the version, or the error again: errors.Is finds the one of package change or consensus that it was, and consensus.ErrRefused if the change was
// refused.
func decodeOutcome(b []byte) (uint64, error) {
	var o outcome
	if err := json.Unmarshal(b, &o); err != nil {
		return 0, fmt.Errorf("%w: what became of it cannot be read: %w", consensus.ErrUnknown, err)
	}
	if o.Code == "" {
		return o.Version, nil
	}
	e := &told{text: o.Text, is: []error{consensus.ErrRefused}}
	if i := slices.IndexFunc(codes, func(c code) bool { return c.word == o.Code }); i >= 0 {
		e.is = append(e.is, codes[i].err)
	} else if i := slices.IndexFunc(groupCodes, func(c code) bool { return c.word == o.Code }); i >= 0 {
		e.is = []error{groupCodes[i].err}
	}
	return 0, e
}

// told is an error that another node has told.
type told struct {
	text string
	is   []error
}

func (t *told) Error() string   { return t.text }
func (t *told) Unwrap() []error { return t.is }

// Group is what decides: a *consensus.Group.
type Group interface {
	Propose(ctx context.Context, entry []byte) (consensus.Result, error)
}

// Propose has an entry decided, and returns the version of the document since then. at is the time in milliseconds since 1970, for the history. An entry that was refused
// gives an error that wraps one of package change and consensus.ErrRefused; others are those of the group.
func Propose(ctx context.Context, g Group, at int64, e change.Entry) (version uint64, err error) {
	b, err := encodeEntry(at, e)
	if err != nil {
		return 0, err
	}
	r, err := g.Propose(ctx, b)
	if err != nil {
		return 0, err
	}
	return decodeOutcome(r.Value)
}

// Answer is what a node tells another one of a proposal that it has made for it, and Answered what that one reads.
func Answer(version uint64, err error) []byte { return encodeOutcome(version, err) }

// Answered reads an Answer: see Propose.
func Answered(b []byte) (version uint64, err error) { return decodeOutcome(b) }
