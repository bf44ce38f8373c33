package admin

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"github.com/quolldb/quoll/ring/change"
)

// RingOption says how something is done with the ring.
type RingOption struct {
	// By is who does it, for the history.
	By string
	// DryRun: nothing is done.
	DryRun bool
}

// post sends what changes the ring.
func (c *Client) post(ctx context.Context, what string, opt RingOption, query url.Values, into any) error {
	if opt.By != "" {
		query.Set("by", opt.By)
	}
	if opt.DryRun {
		query.Set("dry-run", "true")
	}
	return c.askWith(ctx, http.MethodPost, "/v1/ring/"+what+"?"+query.Encode(), into)
}

// Ring returns the ring as the process knows it, and how far a plan is.
func (c *Client) Ring(ctx context.Context) (RingStatus, error) {
	var s RingStatus
	return s, c.ask(ctx, "/v1/ring", &s)
}

// RingHistory returns what was done with the ring, the latest last.
func (c *Client) RingHistory(ctx context.Context) ([]RingEvent, error) {
	var events []RingEvent
	return events, c.ask(ctx, "/v1/ring/history", &events)
}

// RingPlan returns what the staged changes mean.
func (c *Client) RingPlan(ctx context.Context) (RingPlan, error) {
	var p RingPlan
	return p, c.ask(ctx, "/v1/ring/plan", &p)
}

// StageRing stages changes.
func (c *Client) StageRing(ctx context.Context, changes []change.Staged, opt RingOption) (RingPlan, error) {
	var p RingPlan
	query := url.Values{}
	for _, s := range changes {
		query.Add("change", SayChange(s))
	}
	return p, c.post(ctx, "plan", opt, query, &p)
}

// ClearRing clears what is staged for a member, or all of it if the name is empty.
func (c *Client) ClearRing(ctx context.Context, name string, opt RingOption) (RingPlan, error) {
	var p RingPlan
	return p, c.post(ctx, "clear", opt, url.Values{"name": {name}}, &p)
}

// CommitRing makes the staged changes the plan under way. The cluster's name, if it is not empty, accepts that data is lost.
func (c *Client) CommitRing(ctx context.Context, id, acceptLoss string, opt RingOption) (RingStatus, error) {
	var s RingStatus
	query := url.Values{"id": {id}}
	if acceptLoss != "" {
		query.Set("accept-loss", acceptLoss)
	}
	return s, c.post(ctx, "commit", opt, query, &s)
}

// AbortRing turns the plan under way around; undo turns it around again.
func (c *Client) AbortRing(ctx context.Context, id string, undo bool, opt RingOption) (RingStatus, error) {
	var s RingStatus
	return s, c.post(ctx, "abort", opt, url.Values{"id": {id}, "undo": {strconv.FormatBool(undo)}}, &s)
}

// PauseRing lets no slot begin to move.
func (c *Client) PauseRing(ctx context.Context, opt RingOption) (RingStatus, error) {
	var s RingStatus
	return s, c.post(ctx, "pause", opt, url.Values{}, &s)
}

// ResumeRing ends a pause.
func (c *Client) ResumeRing(ctx context.Context, opt RingOption) (RingStatus, error) {
	var s RingStatus
	return s, c.post(ctx, "resume", opt, url.Values{}, &s)
}

// RateRing sets how many bytes a second each node copies, 0 for the default.
func (c *Client) RateRing(ctx context.Context, bytes int64, opt RingOption) (RingStatus, error) {
	var s RingStatus
	return s, c.post(ctx, "rate", opt, url.Values{"bytes": {strconv.FormatInt(bytes, 10)}}, &s)
}

// ForgetRing lets a node go that waits to join.
func (c *Client) ForgetRing(ctx context.Context, name string, opt RingOption) (RingStatus, error) {
	var s RingStatus
	return s, c.post(ctx, "forget", opt, url.Values{"name": {name}}, &s)
}
