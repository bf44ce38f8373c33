package verify

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// session is a connection to one address that is held for commands that belong together. One goroutine at a time uses it. After an error
// other than a refusal only end may follow.
type session interface {
	// do is as store.do.
	do(ctx context.Context, args ...any) (answer, error)
	// exec sends commands between MULTI and EXEC. The answers are nil if EXEC was answered null: nothing was done, as a watched key had changed. The error is as that of
	// store.do, and wraps errUnknown only if EXEC may have arrived.
	exec(ctx context.Context, commands ...[]any) ([]answer, error)
	// end gives it back. What was watched is forgotten, a transaction that was begun is not done.
	end()
}

// held is a session with a server.
type held struct {
	at       *server
	c        *connection // nil after an error that left it useless
	watching bool
}

// hold returns a session; an error says why there is none: nothing was sent.
func (s *servers) hold(ctx context.Context, address int) (session, error) {
	at := s.each[address]
	c, err := at.take(ctx, s.greet)
	if err != nil {
		return nil, err
	}
	return &held{at: at, c: c}, nil
}

func (h *held) do(ctx context.Context, args ...any) (answer, error) {
	h.watching = h.watching || args[0] == "WATCH"
	reply, err := h.c.ask(until(ctx), args...)
	if err != nil {
		return answer{null: true}, h.outcome(err, true)
	}
	return reply, nil
}

// exec sends every other transaction in one piece.
func (h *held) exec(ctx context.Context, commands ...[]any) ([]answer, error) {
	h.c.transactions++
	answers, sent, err := h.c.exec(until(ctx), h.c.transactions%2 == 0, commands)
	if err != nil {
		return nil, h.outcome(err, sent)
	}
	h.watching = false
	return answers, nil
}

// outcome says what an error means, and gives up the connection if that is of no use any more.
func (h *held) outcome(err error, sent bool) error {
	broken, err := outcome(err, sent)
	if broken {
		h.at.discard(h.c)
		h.c = nil
	}
	return err
}

func (h *held) end() {
	switch {
	case h.c == nil:
	case h.watching:
		h.c.close()
	default:
		h.at.give(h.c)
	}
}

// outcome says whether an error leaves a connection useless, and what it means. Sent says that the command may have arrived.
func outcome(err error, sent bool) (broken bool, _ error) {
	var refused refusal
	switch {
	case errors.Is(err, errUnknown):
		return false, err
	case errors.As(err, &refused) && strings.HasPrefix(string(refused), "UNKNOWN "):
		return false, fmt.Errorf("%w: %w", errUnknown, err)
	case errors.As(err, &refused):
		return false, err
	case sent:
		return true, fmt.Errorf("%w: %w", errUnknown, err)
	}
	return true, err
}

// talk is a session whose commands are counted, as run.do counts them. A transaction is one.
type talk struct {
	session
	run     *run
	address int
}

// hold returns a session that counts.
func (r *run) hold(ctx context.Context, address int) (*talk, error) {
	began := time.Now()
	s, err := r.store.hold(ctx, address)
	if err != nil {
		r.count(began, address, false, err)
		return nil, err
	}
	return &talk{s, r, address}, nil
}

func (t *talk) do(ctx context.Context, args ...any) (answer, error) {
	began := time.Now()
	reply, err := t.session.do(ctx, args...)
	t.run.count(began, t.address, !reads(args[0]), err)
	return reply, err
}

func (t *talk) exec(ctx context.Context, commands ...[]any) ([]answer, error) {
	began := time.Now()
	answers, err := t.session.exec(ctx, commands...)
	t.run.count(began, t.address, slices.ContainsFunc(commands, func(command []any) bool { return !reads(command[0]) }), err)
	return answers, err
}
