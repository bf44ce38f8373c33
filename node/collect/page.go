package collect

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/wire"
	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/register"
)

const (
	// pageBytes is about how many bytes of records a page is about, and how many travel in one answer.
	pageBytes = 256 << 10
	// recordOverhead is about what a record takes besides key and value.
	recordOverhead = 100
	// showTime is how long an old member has to show a page.
	showTime = 5 * time.Second
)

// showing is what a member shows of a page, at one moment.
type showing struct {
	member uint16
	protocol.ShowPage
}

// show shows what this node holds of a slot from a position on.
func show(s Slot, from, end engine.Position, limit int) (page protocol.ShowPage, err error) {
	size := 0
	next, err := s.Scan(from, end, func() bool { return size >= limit }, func(_ engine.Position, key []byte, rec record.Record) {
		size += recordOverhead + len(key) + rec.State.Size()
		page.Entries = append(page.Entries, protocol.ShowEntry{Key: bytes.Clone(key), Version: rec.Version})
	})
	page.Next, page.Meta = uint64(next), s.Acceptor().Meta()
	return page, err
}

// endOf returns where a page ends that members have shown: where the first of them has.
func endOf(shown []showing) engine.Position {
	end := engine.EndPosition
	for i := range shown {
		end = min(end, engine.Position(shown[i].Next))
	}
	return end
}

// gather returns the page that members have shown.
func gather(config *register.Config, self uint16, shown []showing) *register.Page {
	page, end := register.NewPage(config, self), endOf(shown)
	for i := range shown {
		s := &shown[i]
		if !page.Show(s.member, s.Meta) {
			continue
		}
		for _, e := range s.Entries {
			if engine.PositionOf(e.Key) < end {
				page.Record(s.member, e.Key, e.Version)
			}
		}
	}
	return page
}

// answer is what comes of asking a member for a page.
type answer struct {
	showing
	err error
}

// ask has a majority of the old members show the next page, without this one if it is one of them. If something is not agreed among those, it asks the
// others, too: it costs less than to have keys written again.
func (r *run) ask(ctx context.Context, config *register.Config) (shown []showing, err error) {
	ctx, cancel := context.WithTimeout(ctx, showTime)
	defer cancel()
	others := r.order(config)
	need := len(config.Old())/2 - (len(config.Old()) - len(others)) + 1
	answers, asked, open := make(chan answer, len(others)), 0, 0
	more := func() {
		member := others[asked]
		asked, open = asked+1, open+1
		go func() { answers <- r.askOne(ctx, member) }()
	}
	take := func() {
		a := <-answers // it comes: askOne ends with ctx
		open--
		if a.err != nil {
			r.late[a.member], err = true, errors.Join(err, a.err)
			return
		}
		shown = append(shown, a.showing)
	}
	for len(shown) < need {
		for open < need-len(shown) && asked < len(others) {
			more()
		}
		if open == 0 {
			return nil, fmt.Errorf("too few of the members show what they hold: %w", err)
		}
		take()
	}
	if asked < len(others) && !gather(config, r.c.node.Self(), shown).Clear() {
		for asked < len(others) && !r.late[others[asked]] {
			more()
		}
	}
	for open > 0 {
		take()
	}
	return shown, nil
}

// askOne asks a member for the next page.
func (r *run) askOne(ctx context.Context, member uint16) answer {
	a := answer{showing: showing{member: member}}
	p, err := r.c.peer(member)
	if err != nil {
		a.err = err
		return a
	}
	payload, err := p.Ask(ctx, protocol.MethodShow, protocol.AppendShowRequest(nil,
		protocol.ShowRequest{Slot: r.slot, Epoch: r.epoch, From: uint64(r.from), Limit: pageBytes}))
	if err == nil {
		r.c.bucket.take(len(payload), time.Now())
		a.ShowPage, err = protocol.DecodeShowPage(payload)
	}
	if err == nil && (a.Next <= uint64(r.from) || a.Next > uint64(engine.EndPosition)) {
		err = fmt.Errorf("%w: a page that does not go on from where it was asked for", wire.ErrMalformed)
	}
	if err != nil {
		a.err = fmt.Errorf("%s: %w", p.Name(), err)
	}
	return a
}
