//go:build faults

package wire

import (
	"sync/atomic"
	"time"
)

// FaultInjection is true: InjectFaults makes the transport of this process lose, hold
// and repeat frames. Such a build is for tests only.
const FaultInjection = true

// FaultRule says what becomes of the frames that this process sends to certain peers,
// on connections in either direction. What comes from them is not touched: one
// direction of one link is cut at its sender.
//
// The frames of the transport itself are not spared, so that pings are late and lost
// like everything else. Of a handshake only Cut is applied: its bytes vanish, the peer
// waits for them in vain, as it would behind a network that swallows them. A peer whose
// name is not known yet (an address that was never reached, a dialer before its hello)
// is cut only by a rule for all names and roles.
//
// A TCP connection never loses, repeats or reorders a part of what it carries. Losing
// frames is nevertheless allowed for all of them: a sender learns nothing from a
// connection that stays up (see Link.SendFrames). To repeat or reorder a request of a
// proxy would be a lie, for those are sent at most once and in order: that is done
// only to the types of RepeatableFrames.
type FaultRule struct {
	// Peer is the name in the peer's Hello, "*" for any.
	Peer string
	// Role is the role in the peer's Hello, empty for any.
	Role Role
	// Cut loses every frame.
	Cut bool
	// Delay holds every frame for so long; Jitter, for a random time of at most so long
	// beyond that. Neither changes the order of frames.
	Delay, Jitter time.Duration
	// Drop, Duplicate and Reorder are the probabilities, 0 to 1, that a frame is lost,
	// that it is sent twice, the second time somewhat later, and that it is held a little
	// longer than what comes behind it.
	Drop, Duplicate, Reorder float64
}

func (r *FaultRule) matches(peer faultPeer) bool {
	return (r.Peer == "*" || r.Peer == peer.name && peer.known()) && (r.Role == "" || r.Role == peer.role)
}

// FaultCounters count what a rule did to frames since it was made.
type FaultCounters struct {
	// Passed frames were sent or are held; Dropped ones were cut off or dropped. Every
	// frame is one or the other.
	Passed, Dropped uint64
	// Of those that passed: how many were sent twice, held so that others overtake them,
	// and held for Delay and Jitter.
	Duplicated, Reordered, Delayed uint64
	// HeldBytes are held at this moment.
	HeldBytes int64
}

// InjectedFault is a rule in force and what it did.
type InjectedFault struct {
	FaultRule
	FaultCounters
}

// faultPlan is the rules that are in force together. It is immutable but for the
// counters.
type faultPlan struct {
	seed  uint64
	rules []*activeRule
}

// activeRule is a rule with its counters.
type activeRule struct {
	FaultRule
	passed, dropped, duplicated, reordered, delayed atomic.Uint64
	held                                            atomic.Int64
}

// currentPlan belongs to the process, as the rules do.
var currentPlan atomic.Pointer[faultPlan]

func init() { currentPlan.Store(new(faultPlan)) }

// InjectFaults replaces all rules of this process at once; none heals everything. For
// each frame the first rule that matches its receiver counts. What is held already
// leaves at its time, or with the next frame (a ping, at the latest) once no rule
// matches its receiver any more. The random decisions follow from the seed, the peer,
// and the number of the connection with it.
//
// The rules must make sense: nothing negative, no probability above 1.
func InjectFaults(seed uint64, rules []FaultRule) {
	plan := &faultPlan{seed: seed}
	for _, rule := range rules {
		plan.rules = append(plan.rules, &activeRule{FaultRule: rule})
	}
	currentPlan.Store(plan)
}

// InjectedFaults returns the seed and the rules in force.
func InjectedFaults() (seed uint64, rules []InjectedFault) {
	plan := currentPlan.Load()
	rules = make([]InjectedFault, 0, len(plan.rules))
	for _, r := range plan.rules {
		rules = append(rules, InjectedFault{r.FaultRule, FaultCounters{
			Passed: r.passed.Load(), Dropped: r.dropped.Load(),
			Duplicated: r.duplicated.Load(), Reordered: r.reordered.Load(), Delayed: r.delayed.Load(),
			HeldBytes: r.held.Load(),
		}})
	}
	return plan.seed, rules
}

// ruleFor returns the rule that counts for a peer, nil for none.
func (p *faultPlan) ruleFor(peer faultPeer) *activeRule {
	for _, r := range p.rules {
		if r.matches(peer) {
			return r
		}
	}
	return nil
}

// repeatable are the frame types that may be duplicated and reordered.
var repeatable [256]bool

// RepeatableFrames declares frame types which the protocol above allows to arrive twice
// and in any order. It is called before there are connections.
func RepeatableFrames(types ...FrameType) {
	for _, typ := range types {
		repeatable[typ] = true
	}
}
