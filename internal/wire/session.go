package wire

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// session is one connection of a Link.
type session struct {
	*peer
	link       *Link
	generation uint64
	// answered is the highest ping that was answered; pongs wakes the watcher.
	answered atomic.Uint64
	pongs    chan struct{}
	// leaving tells the watcher that the peer is.
	leaving chan struct{}
	// sameProcess: the peer is in this process.
	sameProcess bool
}

// SameProcess is implemented by connections with a peer in this very process. It can't hang while this end runs, and where processors are overloaded neither gets its turn in time: so
// it is not suspected before it would be given up.
type SameProcess interface{ SameProcess() }

// connect makes one connection and stays until it ends. The error says why it
// ended, or why there was none.
func (l *Link) connect(ctx context.Context) error {
	dialing, cancel := context.WithTimeout(ctx, l.cfg.DialTimeout)
	conn, err := l.cfg.Dial(dialing, l.cfg.Address)
	cancel()
	if err != nil {
		return fmt.Errorf("wire: connecting: %w", err)
	}
	p := newPeer(conn, l.cfg.Options)
	p.faults.dials(l.cfg.Address)
	release := context.AfterFunc(ctx, func() { p.fail(ErrClosed) })
	defer release()

	over := l.suspectStranger(ctx, p)
	hello, err := l.shakeHands(p)
	over()
	if err != nil {
		return p.end(err)
	}
	l.generation++
	l.failures.settle()
	_, same := conn.(SameProcess)
	s := &session{sameProcess: same, peer: p, link: l, generation: l.generation, pongs: make(chan struct{}, 1), leaving: make(chan struct{}, 1)}
	return s.run(hello)
}

// shakeHands introduces the two sides. Check judges what a stranger wrote: a panic in it
// costs the connection, and not the process.
func (l *Link) shakeHands(p *peer) (hello Hello, err error) {
	defer capturePanic(&err)
	return p.shake(l.cfg.Options, func(h *handshake) (Hello, error) {
		if err := l.encrypt(p); err != nil {
			return Hello{}, err
		}
		return h.dial(l.cfg.Hello(), l.cfg.Check)
	})
}

// run is the life of a connection after its handshake.
func (s *session) run(hello Hello) error {
	s.start()
	s.link.current.Store(s)
	stop := make(chan struct{})
	var watcher sync.WaitGroup
	err := s.receive(hello, func() { watcher.Go(func() { s.watch(stop) }) })

	s.link.current.Store(nil)
	close(stop)
	watcher.Wait()
	err = s.end(err)
	s.link.setState(Down)
	if s.link.cfg.OnDown != nil {
		s.link.cfg.OnDown(s.generation, err)
	}
	return err
}

// receive announces the connection and delivers what comes on it.
func (s *session) receive(hello Hello, watch func()) (err error) {
	defer capturePanic(&err)
	if s.link.cfg.OnUp != nil {
		s.link.cfg.OnUp(s.generation, hello)
	}
	s.link.setState(Up)
	watch()
	return s.read(s)
}

func (s *session) frame(typ FrameType, body []byte, age time.Duration) {
	if s.link.cfg.OnFrame != nil {
		s.link.cfg.OnFrame(typ, body, age)
	}
}

func (s *session) idle() {
	if s.link.cfg.OnIdle != nil {
		s.link.cfg.OnIdle()
	}
}

// pong takes the answer to a ping: the time it took, and its number for the watcher.
func (s *session) pong(body []byte) error {
	number, sent, err := decodePong(body)
	if err != nil {
		return fmt.Errorf("%w: pong: %w", ErrProtocol, err)
	}
	// The times are ours, but they come from the peer: one that is not sane is ignored.
	if took := clock() - sent; took > 0 && took < time.Hour {
		s.link.trips.add(took)
		if s.link.cfg.OnPong != nil {
			s.link.cfg.OnPong()
		}
	}
	s.answered.Store(max(number, s.answered.Load()))
	select {
	case s.pongs <- struct{}{}:
	default:
	}
	return nil
}

// receives reports whether a large frame is coming, or being handled. What the peer sent behind it, that it is working
// too, waits.
func (s *session) receives() bool {
	if s.in.within.Load() {
		return clock()-time.Duration(s.in.heard.Load()) < workingFor
	}
	took := clock() - time.Duration(s.turn.begun.Load())
	return s.turn.underWay() && took > behindAfter && took < longestTurn
}

// stuck: who dials answers no pings.
func (s *session) stuck() bool { return false }

// working notes that the peer is behind, and lives.
func (s *session) working() error {
	s.link.working.Store(int64(clock()))
	return nil
}

// goodbye takes it that the peer is leaving: nothing is sent to it any more.
func (s *session) goodbye(typ FrameType) error {
	if typ != frameLeaving {
		return fmt.Errorf("%w: a server has nowhere to leave from", ErrProtocol)
	}
	s.out.finish(appendFrame(nil, frameLeft, nil))
	select {
	case s.leaving <- struct{}{}:
	default:
	}
	return nil
}

// watch pings the peer and keeps the link's state until stop is closed.
func (s *session) watch(stop <-chan struct{}) {
	cfg := &s.link.cfg
	h := health{
		interval: cfg.PingInterval, suspectAfter: cfg.SuspectAfter, deadAfter: cfg.DeadAfter,
		state: Up, ticked: clock(),
	}
	if s.sameProcess {
		h.suspectAfter = h.deadAfter
	}
	ticker := time.NewTicker(cfg.PingInterval)
	defer ticker.Stop()
	var buf []byte
	for {
		select {
		case <-stop:
			return
		case <-s.pongs:
			h.pong(s.answered.Load())
		case <-s.leaving:
			h.state = Leaving
		case <-ticker.C:
			now, heard := clock(), time.Duration(s.in.heard.Load())
			if s.turn.underWay() { // nobody listens at the moment, so there is no silence
				heard = now
			}
			alive := h.tick(now, heard)
			s.link.silence.Store(int64(h.silence))
			if !alive {
				s.fail(fmt.Errorf("%w: nothing came for %s", ErrSilent, h.silence))
				return
			}
			buf = appendPing(buf[:0], h.ping(), now)
			s.out.addUrgent(buf)
		}
		s.link.setState(h.state)
	}
}
