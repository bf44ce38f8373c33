package config

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

// Size is a number of bytes. It is written as redis.conf does (65536, 64kb, 64mb,
// 1gb; k, m and g alone are powers of 1000) or with IEC units (64KiB, 64MiB, 1GiB).
// Case does not matter.
type Size int64

// The IEC units.
const (
	KiB Size = 1 << 10
	MiB Size = 1 << 20
	GiB Size = 1 << 30
	TiB Size = 1 << 40
)

// units is ordered so that no suffix hides a longer one.
var units = []struct {
	suffix string
	factor Size
}{
	{"kib", KiB}, {"mib", MiB}, {"gib", GiB}, {"tib", TiB},
	{"kb", KiB}, {"mb", MiB}, {"gb", GiB}, {"tb", TiB},
	{"k", 1e3}, {"m", 1e6}, {"g", 1e9}, {"b", 1}, {"", 1},
}

var errSize = errors.New("not a size")

// Set parses text. It is part of pflag's Value.
func (s *Size) Set(text string) error {
	text = strings.ToLower(strings.TrimSpace(text))
	for _, unit := range units {
		digits, ok := strings.CutSuffix(text, unit.suffix)
		if !ok {
			continue
		}
		n, err := strconv.ParseUint(strings.TrimSpace(digits), 10, 63)
		if err != nil || n > math.MaxInt64/uint64(unit.factor) {
			return errSize
		}
		*s = Size(n) * unit.factor
		return nil
	}
	return errSize
}

// String writes the size in the largest unit that divides it: 64MiB.
func (s Size) String() string {
	for i, unit := range []Size{TiB, GiB, MiB, KiB} {
		if s != 0 && s%unit == 0 {
			return strconv.FormatInt(int64(s/unit), 10) + []string{"TiB", "GiB", "MiB", "KiB"}[i]
		}
	}
	return strconv.FormatInt(int64(s), 10)
}

// Type names the type in help texts. It is part of pflag's Value.
func (s *Size) Type() string { return "size" }
