package admin

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/quolldb/quoll/ring"
	"github.com/quolldb/quoll/ring/change"
)

// ringCall is one request about the ring.
type ringCall struct {
	source RingChanger
	view   RingView
	query  url.Values
	by     string
	dryRun bool
}

// errNoPart is the error for what a proxy is asked.
var errNoPart = BadRequest("this process takes no part in the ring: give the admin address of a node")

// rings serves what operators ask of the ring, and do with it.
func (h *handler) rings(mux *http.ServeMux) {
	for path, answer := range map[string]func(context.Context, *ringCall) (any, error){
		"GET /v1/ring":          func(_ context.Context, c *ringCall) (any, error) { return c.view.status(), nil },
		"GET /v1/ring/history":  func(_ context.Context, c *ringCall) (any, error) { return c.view.history(), nil },
		"GET /v1/ring/keyspace": func(_ context.Context, c *ringCall) (any, error) { return c.view.keyspaces(), nil },
		"GET /v1/ring/plan":     func(_ context.Context, c *ringCall) (any, error) { return c.plan(), nil },
	} {
		mux.HandleFunc(path, h.told(h.ring(answer)))
	}
	for path, answer := range map[string]func(context.Context, *ringCall) (any, error){
		"POST /v1/ring/plan":   stageRing,
		"POST /v1/ring/clear":  clearRing,
		"POST /v1/ring/commit": commitRing,
		"POST /v1/ring/abort":  abortRing,
		"POST /v1/ring/pause": func(ctx context.Context, c *ringCall) (any, error) {
			return c.status(ctx, change.Entry{Pause: &change.Pause{}})
		},
		"POST /v1/ring/resume": func(ctx context.Context, c *ringCall) (any, error) {
			return c.status(ctx, change.Entry{Pause: &change.Pause{Off: true}})
		},
		"POST /v1/ring/rate":     rateRing,
		"POST /v1/ring/keyspace": placeRing,
		"POST /v1/ring/forget": func(ctx context.Context, c *ringCall) (any, error) {
			return c.status(ctx, change.Entry{Forget: &change.Forget{Name: c.query.Get("name")}})
		},
	} {
		mux.HandleFunc(path, h.done(h.ring(answer)))
	}
	mux.HandleFunc("POST /v1/ring/recover", h.done(h.recoverRing))
}

// ring answers with what this process knows of the ring.
func (h *handler) ring(answer func(context.Context, *ringCall) (any, error)) func(context.Context, *http.Request) (any, error) {
	return func(ctx context.Context, r *http.Request) (any, error) {
		source, ok := h.backend.(RingChanger)
		if !ok {
			return nil, errNoPart
		}
		c := &ringCall{source: source, query: r.URL.Query()}
		var err error
		if c.by, err = historyName(r); err != nil {
			return nil, err
		}
		if c.dryRun, err = c.flag("dry-run"); err != nil {
			return nil, err
		}
		if c.view, err = source.RingView(ctx); err != nil {
			return nil, err
		}
		return answer(ctx, c)
	}
}

// historyName returns who does it, for the history.
func historyName(r *http.Request) (string, error) {
	by := nameOf(r)
	if len(by) > ring.MaxName {
		return "", BadRequest(fmt.Sprintf("by: longer than %d bytes", ring.MaxName))
	}
	return by, nil
}

// flag returns what a query says is true or false.
func (c *ringCall) flag(name string) (bool, error) {
	text := c.query.Get(name)
	if text == "" {
		return false, nil
	}
	yes, err := strconv.ParseBool(text)
	if err != nil {
		return false, BadRequest(name + ": give true or false")
	}
	return yes, nil
}

// do has the ring changed, all of it or, as far as that can be said before, nothing: the entries are tried here first. That
// is all that happens in a dry run; the view then shows what would be.
func (c *ringCall) do(ctx context.Context, entries ...change.Entry) error {
	d := c.view.Document
	for i := range entries {
		entries[i].By = c.by
		next, err := change.Apply(d, entries[i], time.Now().UnixMilli())
		if err != nil {
			return Conflict(strings.Join(lines(err), "; "))
		}
		d = next
	}
	if c.dryRun {
		c.view.Document = d
		return nil
	}
	for i, e := range entries {
		if err := c.source.ProposeRing(ctx, e); err != nil && i > 0 {
			return fmt.Errorf("%d of %d changes were made, then: %w; look at the plan again", i, len(entries), err)
		} else if err != nil {
			return err
		}
	}
	view, err := c.source.RingView(ctx)
	if err == nil {
		c.view = view
	}
	return err
}

// status does something, and says how the ring is after it.
func (c *ringCall) status(ctx context.Context, entries ...change.Entry) (any, error) {
	return c.after(c.do(ctx, entries...))
}

func (c *ringCall) plan() RingPlan {
	p, _ := c.view.plan()
	p.DryRun = c.dryRun
	return p
}

func stageRing(ctx context.Context, c *ringCall) (any, error) {
	var entries []change.Entry
	for _, text := range c.query["change"] {
		changes, err := ParseChanges(strings.Fields(text))
		if err != nil {
			return nil, BadRequest("change: " + err.Error())
		}
		for _, s := range changes {
			entries = append(entries, change.Entry{Stage: &s})
		}
	}
	if len(entries) == 0 {
		return nil, BadRequest("change: say what is to change, such as change=join+NAME")
	}
	if err := c.do(ctx, entries...); err != nil {
		return nil, err
	}
	return c.plan(), nil
}

func clearRing(ctx context.Context, c *ringCall) (any, error) {
	if err := c.do(ctx, change.Entry{Unstage: &change.Unstage{Name: c.query.Get("name")}}); err != nil {
		return nil, err
	}
	return c.plan(), nil
}

// commitRing commits what is staged, and accepts the loss of data where the cluster's name is given for that: also that of
// the plan under way, if its ID is given.
func commitRing(ctx context.Context, c *ringCall) (any, error) {
	id, accept := c.query.Get("id"), c.query.Get("accept-loss")
	if accept != "" && accept != c.view.Document.Cluster {
		return nil, Conflict(fmt.Sprintf("this cluster is not %q: nothing was done; to accept the loss of data give its name, quoll ring status shows it", accept))
	}
	if under := c.view.Document.Plan; accept != "" && under != nil && id == under.ID {
		return c.status(ctx, c.acceptLoss())
	}
	plan, commit := c.view.plan()
	switch {
	case commit == nil && plan.Problem != "":
		return nil, Conflict(plan.Problem)
	case commit == nil:
		return nil, Conflict(change.ErrNothingStaged.Error())
	case id != commit.ID:
		return nil, Conflict(fmt.Sprintf("%s: %v", id, change.ErrOtherPlan))
	case len(plan.Loss) > 0 && accept == "":
		return nil, Conflict(strings.Join(plan.Loss, "; ") + "; nothing was committed")
	}
	if err := c.do(ctx, change.Entry{Commit: commit}); err != nil || len(plan.Loss) == 0 {
		return c.after(err)
	}
	if err := c.do(ctx, c.acceptLoss()); err != nil {
		return nil, fmt.Errorf("plan %s is committed, but the loss of data was not accepted: %w", id, err)
	}
	return c.after(nil)
}

// after says how the ring is, unless something went wrong.
func (c *ringCall) after(err error) (any, error) {
	if err != nil {
		return nil, err
	}
	s := c.view.status()
	s.DryRun = c.dryRun
	return s, nil
}

// acceptLoss goes on without the members that are not alive, and that the plan takes everything from.
func (c *ringCall) acceptLoss() change.Entry {
	return change.Entry{Accept: &change.AcceptLoss{Cluster: c.view.Document.Cluster, Gone: c.view.gone()}}
}

func abortRing(ctx context.Context, c *ringCall) (any, error) {
	undo, err := c.flag("undo")
	if err != nil {
		return nil, err
	}
	return c.status(ctx, change.Entry{Abort: &change.Abort{Plan: c.query.Get("id"), Off: undo}})
}

func rateRing(ctx context.Context, c *ringCall) (any, error) {
	bytes, err := strconv.ParseInt(c.query.Get("bytes"), 10, 64)
	if err != nil || bytes < 0 || bytes > 0 && bytes < 64<<10 {
		return nil, BadRequest("bytes: give a number of bytes a second, at least 65536, or 0 for the default")
	}
	return c.status(ctx, change.Entry{Rate: &change.Rate{Bytes: bytes}})
}
