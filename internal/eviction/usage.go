package eviction

import "math"

// Usage is what is noted of the use of a key. With TrackRecency it is the Clock of the last use, with TrackFrequency a counter in the lowest 8 bits, and above it
// the minute when that was counted up or down last. Differences are right as long as they fit: a key that nobody used for two years seems to have been used.
type Usage uint32

// Clock is a time for usages, in ticks from any moment on.
type Clock uint32

const (
	ticksPerSecond = 64
	counterBits    = 8
	minutesMask    = math.MaxUint32 >> counterBits
	// newCounter is what a new key begins with, so that it is not the first to go before anybody could use it.
	newCounter = 5
)

// ClockOf returns the clock at a monotonic time in milliseconds.
func ClockOf(milliseconds int64) Clock { return Clock(milliseconds * ticksPerSecond / 1000) }

// minutes are those of the clock, in as many bits as a Usage has for them.
func (c Clock) minutes() uint32 { return uint32(c) / (60 * ticksPerSecond) & minutesMask }

// Idle is for how many seconds a key of which the recency is noted was not used.
func (u Usage) Idle(now Clock) int64 { return int64(uint32(now)-uint32(u)) / ticksPerSecond }

// Frequency is the counter of a key of which the frequency is noted, counted down for the time without use.
func (u Usage) Frequency(now Clock, s *Settings) uint8 {
	counter := uint32(u) & math.MaxUint8
	periods := counter
	if s.DecayTime > 0 {
		periods = (now.minutes() - uint32(u)>>counterBits) & minutesMask / uint32(s.DecayTime)
	}
	return uint8(counter - min(counter, periods))
}

// Used returns the usage of a key that is used once more. It needs a random number.
func (u Usage) Used(now Clock, s *Settings, random uint32) Usage {
	if s.Policy.Tracks() != TrackFrequency {
		return Usage(now)
	}
	counter := u.Frequency(now, s)
	if above := max(int(counter)-newCounter, 0); counter < math.MaxUint8 && uint64(random)*uint64(above*s.LogFactor+1) < 1<<32 {
		counter++
	}
	return frequency(now, counter)
}

// New returns the usage of a key that is new.
func New(now Clock, s *Settings) Usage {
	if s.Policy.Tracks() != TrackFrequency {
		return Usage(now)
	}
	return frequency(now, newCounter)
}

func frequency(now Clock, counter uint8) Usage {
	return Usage(now.minutes()<<counterBits | uint32(counter))
}

// Rank says how soon a key is to go, by the policy: the one with the highest rank first. expireAt is when it expires, 0 for never.
func (s *Settings) Rank(u Usage, expireAt int64, now Clock) uint64 {
	switch {
	case s.Policy.Tracks() == TrackRecency:
		return uint64(uint32(now) - uint32(u))
	case s.Policy.Tracks() == TrackFrequency:
		return uint64(math.MaxUint8 - u.Frequency(now, s))
	case s.Policy == VolatileTTL:
		return math.MaxUint64 - uint64(max(expireAt, 0))
	}
	return 0
}

// Evicts reports whether a key that expires at a time, 0 for never, may go by the policy at all.
func (p Policy) Evicts(expireAt int64) bool {
	return p != NoEviction && (expireAt != 0 || !p.Volatile())
}
