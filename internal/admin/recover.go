package admin

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
)

// POST /v1/ring/recover?accept-loss=CLUSTER&dry-run=true founds the group again that decides on the ring, when a majority of it is gone for good. Without the
// cluster's name it only says what that means. It answers with a RingRecovery, or with 409 and the reason why nothing is done.

// RecoverRequest says who wants the group founded again.
type RecoverRequest struct {
	// AcceptLoss is the cluster's name: whoever gives it means it. Nothing is done without.
	AcceptLoss string
	RingOption
}

// RingRecovery is what it means to found the group again, with the node that was asked.
type RingRecovery struct {
	Cluster string `json:"cluster"`
	// Node founds it. Others that answer are added when it has.
	Node string `json:"node"`
	// Deciders are those who decide so far, Gone all members that do not answer.
	Deciders []RingDecider `json:"deciders"`
	Gone     []string      `json:"gone"`
	// Version is that of the latest ring that anybody knows who answers.
	Version uint64 `json:"version"`
	// SlotsMinority are how many slots have too few of their replicas left to tell what was written: what only those that are gone knew of them is lost.
	// SlotsGone have none left. Keys is about how many keys both have.
	SlotsMinority int   `json:"slots_minority"`
	SlotsGone     int   `json:"slots_gone"`
	Keys          int64 `json:"keys"`
	// Done: it is founded.
	Done bool `json:"done"`
}

// RingDecider is one of those who decide on the ring.
type RingDecider struct {
	Name  string `json:"name"`
	Alive bool   `json:"alive"`
}

// RingRecoverer is a Backend that can found the group again that decides on the ring.
type RingRecoverer interface {
	// RecoverRing returns an error made by Conflict if nothing should be done.
	RecoverRing(ctx context.Context, r RecoverRequest) (RingRecovery, error)
}

// recoverRing serves it.
func (h *handler) recoverRing(ctx context.Context, r *http.Request) (any, error) {
	recoverer, ok := h.backend.(RingRecoverer)
	if !ok {
		return nil, errNoPart
	}
	c := ringCall{query: r.URL.Query()}
	dryRun, err := c.flag("dry-run")
	if err != nil {
		return nil, err
	}
	by, err := historyName(r)
	if err != nil {
		return nil, err
	}
	return recoverer.RecoverRing(ctx, RecoverRequest{AcceptLoss: c.query.Get("accept-loss"), RingOption: RingOption{By: by, DryRun: dryRun}})
}

// RecoverRing has the node that is asked found the group again that decides on the ring. Without the cluster's name nothing is done.
func (c *Client) RecoverRing(ctx context.Context, acceptLoss string, opt RingOption) (RingRecovery, error) {
	var report RingRecovery
	query := url.Values{"accept-loss": {acceptLoss}, "dry-run": {strconv.FormatBool(opt.DryRun)}}
	return report, c.post(ctx, "recover", opt, query, &report)
}
