package session

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

// memoryUnits are those of Redis' configuration.
var memoryUnits = map[string]int64{"": 1, "b": 1, "k": 1000, "kb": 1 << 10, "m": 1000_000, "mb": 1 << 20, "g": 1000_000_000, "gb": 1 << 30}

// parseMemory reads a number of bytes: 100mb. As for Redis no digits are 0; what is more than there is counts as the most that can be said.
func parseMemory(value string) (bytes int64, ok bool) {
	digits := strings.TrimLeft(value, "0123456789")
	unit, known := memoryUnits[strings.ToLower(digits)]
	digits = value[:len(value)-len(digits)]
	if !known || digits == "" {
		return 0, known
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n > math.MaxInt64/unit { // they are digits, too many
		return math.MaxInt64, true
	}
	return n * unit, true
}

// errNotMemory is that of what is no number of bytes.
var errNotMemory = errors.New("argument must be a memory value")
