package wire

import (
	"encoding/binary"
	"time"
)

// State says what a Link knows of its peer.
type State int32

// The states of a Link.
const (
	// Down: there is no connection.
	Down State = iota
	// Up: the peer answers.
	Up
	// Suspect: there is a connection, but the peer has gone silent and owes an
	// answer. Frames can be sent; whether anybody reads them is another question.
	Suspect
	// Leaving: the peer is about to end. It still answers, but takes no more frames.
	Leaving
)

// String returns the state in lower case.
func (s State) String() string {
	switch s {
	case Up:
		return "up"
	case Suspect:
		return "suspect"
	case Leaving:
		return "leaving"
	}
	return "down"
}

// health judges one connection by what was heard and which pings were answered.
// It has no clock and no goroutine: the watcher feeds it.
//
// Where the processors are overloaded a process may not run for a moment, again and again. To do without it each time costs more than to
// wait for it: others take its slots over, and it takes them back. So a peer that was silent of late, and came back, may be silent
// for twice as long as then, within limits.
type health struct {
	interval, suspectAfter, deadAfter time.Duration

	state State
	// ticked is when tick was called last; silence is for how long nothing was heard
	// then, not counting time in which this process itself did not run.
	ticked, silence time.Duration
	// longest is the longest silence that has ended, up to suspectAfter. It fades.
	longest time.Duration
	// sent, answered and suspected number pings: the last sent, the last answered,
	// and the last that was sent when the peer became suspect.
	sent, answered, suspected uint64
}

// fading is how many ticks it takes until little more than a third is left of a silence that has ended.
const fading = 64

// patience is how long a peer may be silent that owes an answer.
func (h *health) patience() time.Duration { return max(h.suspectAfter, 2*h.longest) }

// tick is called once per interval. It returns false when the peer is dead.
func (h *health) tick(now, heard time.Duration) bool {
	// A tick that comes much too late says that this process was stopped or
	// starved, and then what the peer sent may lie unread: no silence of the peer.
	gap := min(now-h.ticked, 2*h.interval)
	h.longest -= h.longest / fading
	if heard >= h.ticked {
		h.longest = min(max(h.longest, h.silence), h.suspectAfter)
		h.silence = min(now-heard, gap)
	} else {
		h.silence += gap
	}
	h.ticked = now
	if h.state == Up && h.sent > h.answered && h.silence >= h.patience() {
		h.state = Suspect
		h.suspected = h.sent
	}
	return h.silence < h.deadAfter
}

// ping returns the number of the ping that is now sent.
func (h *health) ping() uint64 {
	h.sent++
	return h.sent
}

// pong notes an answer. Only one to a ping sent after the suspicion ends it: an
// older one may have been under way all the time.
func (h *health) pong(number uint64) {
	if number > h.sent {
		return
	}
	h.answered = max(h.answered, number)
	if h.state == Suspect && number > h.suspected {
		h.state = Up
	}
}

// A ping has the sender's number and time; the pong has them again.
const pingLimit = 16

func appendPing(dst []byte, number uint64, now time.Duration) []byte {
	var body [pingLimit]byte
	binary.LittleEndian.PutUint64(body[:], number)
	binary.LittleEndian.PutUint64(body[8:], uint64(now))
	return appendFrame(dst, framePing, body[:])
}

func decodePong(body []byte) (number uint64, sent time.Duration, err error) {
	d := NewDecoder(body)
	number, sent = d.Uint64(), time.Duration(d.Uint64())
	return number, sent, d.Done()
}
