// Package loglimit keeps whoever can cause log lines from filling a disk with them: of lines of one kind it lets some through
// each minute, and says at the minute's end how many more there were.
//
// Lines are of one kind if they have the same level, the same component and, but for numbers, the same message. Attributes
// do not matter: a stranger chooses his address and what he sends. Debug lines are not limited, since they were asked for.
package loglimit

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

const (
	// Burst is how many lines of a kind pass in a Window.
	Burst = 20
	// Window is how long lines are counted before what was held back is told.
	Window = time.Minute
	// maxKinds bounds the memory for kinds; lines of what comes later are one kind together.
	maxKinds = 1000
)

// Handler is a slog.Handler that limits lines before another one writes them. It may be used by several goroutines.
type Handler struct {
	next      slog.Handler
	component string
	limiter   *limiter
}

// New returns a handler that limits what next gets. Its owner calls Close when nothing is logged any more.
func New(next slog.Handler) *Handler {
	return &Handler{next: next, limiter: &limiter{kinds: map[string]*kind{}}}
}

// Close writes how many lines were held back and not told yet, and stops counting: later lines all pass.
func (h *Handler) Close() { h.limiter.close() }

// Enabled implements slog.Handler.
func (h *Handler) Enabled(ctx context.Context, level slog.Level) bool {
	return h.next.Enabled(ctx, level)
}

// WithAttrs implements slog.Handler.
func (h *Handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	with := *h
	with.next = h.next.WithAttrs(attrs)
	for _, attr := range attrs {
		if attr.Key == "component" {
			with.component = attr.Value.String()
		}
	}
	return &with
}

// WithGroup implements slog.Handler.
func (h *Handler) WithGroup(name string) slog.Handler {
	with := *h
	with.next = h.next.WithGroup(name)
	return &with
}

// Handle implements slog.Handler.
func (h *Handler) Handle(ctx context.Context, record slog.Record) error {
	if record.Level > slog.LevelDebug && !h.limiter.pass(h, record) {
		return nil
	}
	return h.next.Handle(ctx, record)
}

// limiter counts for all handlers that were derived from one.
type limiter struct {
	mu     sync.Mutex
	kinds  map[string]*kind
	timer  *time.Timer // runs while lines of any kind are held back
	closed bool
}

// kind is what was counted of one kind of line.
type kind struct {
	since  time.Time // when its window began
	passed int
	held   int
	last   slog.Record // of those held
	by     *Handler
}

// pass reports whether a line may be written now, and remembers it if not.
func (l *limiter) pass(h *Handler, record slog.Record) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return true
	}
	k := l.kind(record.Level.String()+" "+h.component+" "+shape(record.Message), time.Now())
	if k.passed < Burst {
		k.passed++
		return true
	}
	k.held++
	k.last, k.by = record.Clone(), h
	if l.timer == nil {
		l.timer = time.AfterFunc(Window, l.tell)
	}
	return false
}

// kind returns the counters of a name, in a window that lasts.
func (l *limiter) kind(name string, now time.Time) *kind {
	k := l.kinds[name]
	if k == nil && len(l.kinds) >= maxKinds {
		l.forget(now)
		if len(l.kinds) >= maxKinds {
			name = ""
			k = l.kinds[name]
		}
	}
	switch {
	case k == nil:
		k = &kind{since: now}
		l.kinds[name] = k
	case k.held == 0 && now.Sub(k.since) >= Window:
		*k = kind{since: now}
	}
	return k
}

// forget drops the kinds of which nothing is held back.
func (l *limiter) forget(now time.Time) {
	for name, k := range l.kinds {
		if k.held == 0 && now.Sub(k.since) >= Window {
			delete(l.kinds, name)
		}
	}
}

// tell writes what was held back, and begins new windows.
func (l *limiter) tell() {
	for _, k := range l.told() {
		_ = k.by.next.Handle(context.Background(), k.sum())
	}
}

// told takes the kinds of which lines are held back.
func (l *limiter) told() (kinds []*kind) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.timer = nil
	for name, k := range l.kinds {
		if k.held > 0 {
			kinds = append(kinds, k)
			delete(l.kinds, name)
		}
	}
	return kinds
}

func (l *limiter) close() {
	l.mu.Lock()
	l.closed = true
	if l.timer != nil {
		l.timer.Stop()
	}
	l.mu.Unlock()
	l.tell()
}

// sum is the line that stands for those that were held back.
func (k *kind) sum() slog.Record {
	text := "… and " + count(k.held) + " more in " + time.Since(k.since).Round(time.Second).String() + " like: " + k.last.Message
	line := slog.NewRecord(time.Now(), k.last.Level, text, 0)
	k.last.Attrs(func(attr slog.Attr) bool {
		line.AddAttrs(attr)
		return true
	})
	return line
}
