package membership

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/ring/change"
)

// How versions of the ring spread: whoever hears that another node knows a later one asks it for what has changed.

// heard is who knows a later version of the ring than this node does, as far as it has heard.
type heard struct {
	mu   sync.Mutex
	from map[string]*rumour // by the name of the node, "" for somebody
	wake chan struct{}
}

// rumour is a version that somebody knows.
type rumour struct {
	news  protocol.RingNews
	tries int
}

func newHeard() heard { return heard{from: map[string]*rumour{}, wake: make(chan struct{}, 1)} }

// maxTries is how often a node is asked. It says so again when it knows the next version, or is connected again.
const maxTries = 20

// fetchTimeout is the time that a node has for its answer.
const fetchTimeout = 5 * time.Second

// Hear notes which version of which ring a node knows, "" for somebody. If that is later than what is known here, Run asks for it. It does not block.
func (m *Membership) Hear(from string, news protocol.RingNews) {
	if !m.isNews(news) {
		return
	}
	m.heard.note(from, news)
	select {
	case m.heard.wake <- struct{}{}:
	default:
	}
}

// Later notes that a node knows a later version of the ring that this one knows, "" for somebody.
func (m *Membership) Later(from string, version uint64) {
	m.Hear(from, protocol.RingNews{Formation: m.News().Formation, Version: version})
}

// ask asks for later versions that were heard of, until ctx ends.
func (m *Membership) ask(ctx context.Context) {
	ticker := time.NewTicker(formInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-m.heard.wake:
		case <-ticker.C: // for those that do not answer yet
		}
		m.askHeard(ctx)
	}
}

// askHeard asks each node that was heard of, once.
func (m *Membership) askHeard(ctx context.Context) {
	for _, name := range m.heard.names() {
		r := m.heard.of(name)
		if r == nil {
			continue
		}
		p, found := m.whoever(name, r.tries)
		switch {
		case !found || !m.isNews(r.news):
			m.heard.forget(name, r)
		case !p.Up():
		case r.tries >= maxTries:
			m.heard.forget(name, r)
		default:
			r.tries++
			if err := m.fetch(ctx, p); err != nil && ctx.Err() == nil {
				m.log.Debug("a node did not say what has changed in the ring", "peer", p.Name(), "err", err)
			}
		}
	}
}

// whoever returns a peer, of no name one after the other of those that answer.
func (m *Membership) whoever(name string, tries int) (p Peer, found bool) {
	if name != "" {
		return m.peer(name)
	}
	peers := slices.DeleteFunc(m.node.Peers(), func(p Peer) bool { return !p.Up() })
	if len(peers) == 0 {
		return nil, false
	}
	return peers[tries%len(peers)], true
}

// fetch asks a peer for what has changed in the ring, or for all of it if that is of no use, and has it taken up.
func (m *Membership) fetch(ctx context.Context, p Peer) error {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	var have change.Document
	if doc := m.Document(); doc != nil {
		have = *doc
	}
	next, _, err := protocol.FetchRing(have, func(method protocol.Method, payload []byte) ([]byte, error) { return p.Ask(ctx, method, payload) })
	if err == nil {
		m.propose(&offer{next, true})
	}
	return err
}

// errNoRing is returned to who asks too early.
var errNoRing = errors.New("node: no ring is known here yet")

// AnswerRing answers a MethodRing call.
func (m *Membership) AnswerRing(payload []byte) ([]byte, error) {
	request, err := protocol.DecodeRingRequest(payload)
	if err != nil {
		return nil, fmt.Errorf("node: ring: %w", err)
	}
	k := m.known.Load()
	if k == nil {
		return nil, errNoRing
	}
	since := request.Since
	if request.Formation != k.news.Formation || since > k.news.Version {
		since = 0
	}
	return protocol.RingReply{Moved: k.moved, Delta: k.since(since)}.Append(nil), nil
}

// note notes what a node knows. What comes late, on another way, says nothing new: the node knew more already.
func (h *heard) note(from string, news protocol.RingNews) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if r := h.from[from]; r == nil || news.Supersedes(r.news) {
		h.from[from] = &rumour{news: news}
	}
}

// names are the nodes that were heard of.
func (h *heard) names() (names []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for name := range h.from {
		names = append(names, name)
	}
	return names
}

func (h *heard) of(name string) *rumour {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.from[name]
}

// forget drops what was heard, unless something else was meanwhile.
func (h *heard) forget(name string, r *rumour) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.from[name] == r {
		delete(h.from, name)
	}
}
