package eviction

import (
	"errors"
	"fmt"
	"math"
	"strconv"
)

// The settings by the names of Redis' parameters. MaxMemory is the limit, which is none of Settings.
const (
	MaxMemory        = "maxmemory"
	MaxMemoryPolicy  = "maxmemory-policy"
	MaxMemorySamples = "maxmemory-samples"
	LfuLogFactor     = "lfu-log-factor"
	LfuDecayTime     = "lfu-decay-time"
)

// MostSamples bounds Settings.Samples, and MostLFU both LogFactor and DecayTime. They are Redis' bounds but for that of the samples: while they are drawn others wait for the slot.
const (
	MostSamples = 64
	MostLFU     = math.MaxInt32
)

// Errors of Set.
var (
	// ErrUnknown: there is no setting of that name.
	ErrUnknown = errors.New("eviction: no such setting")
	// ErrValue: it is no number, or out of range.
	ErrValue = errors.New("eviction: no value of that setting")
)

// Settings say how keys are evicted. They are Redis', with its names and defaults.
type Settings struct {
	Policy Policy
	// Samples is how many keys are looked at for each that goes: maxmemory-samples.
	Samples int
	// LogFactor says how many uses it takes to count one up, DecayTime in how many minutes without use one is counted down, 0 for at each look: lfu-log-factor and lfu-decay-time.
	LogFactor, DecayTime int
}

// DefaultSettings are Redis' defaults.
func DefaultSettings() Settings {
	return Settings{Policy: NoEviction, Samples: 5, LogFactor: 10, DecayTime: 1}
}

// Set gives a setting, by the name of Redis' parameter, a value. The error wraps ErrUnknown, ErrValue or ErrPolicy; the settings are then as they were.
func (s *Settings) Set(name, value string) error {
	switch name {
	case MaxMemoryPolicy:
		policy, err := ParsePolicy(value)
		if err == nil {
			s.Policy = policy
		}
		return err
	case MaxMemorySamples:
		return setNumber(&s.Samples, value, 1, MostSamples)
	case LfuLogFactor:
		return setNumber(&s.LogFactor, value, 0, MostLFU)
	case LfuDecayTime:
		return setNumber(&s.DecayTime, value, 0, MostLFU)
	}
	return fmt.Errorf("%w: %q", ErrUnknown, name)
}

func setNumber(number *int, value string, least, most int) error {
	n, err := strconv.Atoi(value)
	if err != nil || n < least || n > most {
		return fmt.Errorf("%w: %q is none of %d to %d", ErrValue, value, least, most)
	}
	*number = n
	return nil
}
