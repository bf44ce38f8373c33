package bench

import (
	"crypto/sha1" //nolint:gosec // it is how Redis names scripts
	"encoding/hex"
	"slices"
)

// script is what EVALSHA runs: it reads its key, and writes it. Each connection has it kept before the first.
const script = "redis.call('GET', KEYS[1]) return redis.call('SET', KEYS[1], ARGV[1])"

// scriptHead is what is between the name of the command and the length of the key.
var scriptHead = func() string {
	sum := sha1.Sum([]byte(script)) //nolint:gosec // as above
	return "$40\r\n" + hex.EncodeToString(sum[:]) + "\r\n$1\r\n1\r\n"
}()

// runsScript reports whether EVALSHA is among the commands.
func (o *Options) runsScript() bool { return slices.Contains(o.kinds(), evalsha) }
