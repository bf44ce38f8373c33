package admin

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
)

// POST /v1/reform?accept-loss=true&dry-run=true lets a cluster that has lost its state form again, empty. It answers with a
// ReformReport, or with 409 and the reason why nothing is done.

// ReformRequest says what may be given up.
type ReformRequest struct {
	// AcceptLoss: also what nodes still hold.
	AcceptLoss bool
	// DryRun: nothing is done.
	DryRun bool
}

// ReformReport says what was given up, or would have been.
type ReformReport struct {
	// Epoch is the lowest that the new ring can have.
	Epoch uint64       `json:"epoch"`
	Nodes []ReformNode `json:"nodes"`
	// Done: all nodes have been told. They form the new ring by themselves.
	Done bool `json:"done"`
}

// ReformNode is what a node held before.
type ReformNode struct {
	Name string `json:"name"`
	// Voting: it had its state. Lost: it had lost it. Neither: it was forming.
	Voting bool   `json:"voting,omitempty"`
	Lost   bool   `json:"lost,omitempty"`
	Keys   uint64 `json:"keys"`
	Bytes  uint64 `json:"bytes"`
}

// Reformer is a Backend whose cluster can form again.
type Reformer interface {
	// Reform returns an error made by Conflict if nothing should be done. After it has returned a report that is Done the process
	// ends this life of its node soon, and with it the server that answers.
	Reform(ctx context.Context, request ReformRequest) (ReformReport, error)
}

// errConflict marks errors that say why something should not be done as things are.
type errConflict string

func (e errConflict) Error() string { return string(e) }

// Conflict returns an error that says why nothing was done.
func Conflict(text string) error { return errConflict(text) }

func (h *handler) reform(w http.ResponseWriter, r *http.Request) {
	reformer, ok := h.backend.(Reformer)
	if !ok {
		fail(w, http.StatusNotFound, "this process is no node: give the admin address of a node")
		return
	}
	var request ReformRequest
	for name, into := range map[string]*bool{"accept-loss": &request.AcceptLoss, "dry-run": &request.DryRun} {
		if text := r.URL.Query().Get(name); text != "" {
			value, err := strconv.ParseBool(text)
			if err != nil {
				fail(w, http.StatusBadRequest, name+": give true or false")
				return
			}
			*into = value
		}
	}
	ctx, cancel := context.WithTimeout(r.Context(), answerTimeout)
	defer cancel()
	report, err := reformer.Reform(ctx, request)
	switch {
	case err == nil:
		reply(w, http.StatusOK, report)
	case errors.As(err, new(errConflict)):
		fail(w, http.StatusConflict, err.Error())
	default:
		fail(w, http.StatusServiceUnavailable, err.Error())
	}
}

// Reform lets the cluster form again. Once it is done the process that was asked, and the others, are away for a moment.
func (c *Client) Reform(ctx context.Context, request ReformRequest) (ReformReport, error) {
	var report ReformReport
	query := url.Values{"accept-loss": {strconv.FormatBool(request.AcceptLoss)}, "dry-run": {strconv.FormatBool(request.DryRun)}}
	return report, c.askWith(ctx, http.MethodPost, "/v1/reform?"+query.Encode(), &report)
}
