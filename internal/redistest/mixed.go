package redistest

import (
	"fmt"
	"strconv"
	"strings"
)

// Far is when keys of Mixed expire, and a little later, in milliseconds since 1970.
const Far int64 = 33_000_000_000_123

// Mixed returns commands, as their arguments, that give a server keys of all types, of which some expire and one has a strange name, and large ones of so many
// elements.
func Mixed(keys, elements int) (commands [][]any) {
	do := func(args ...any) { commands = append(commands, args) }
	for i := range keys {
		key, value := fmt.Sprintf("key:%d", i), strings.Repeat("v", i%200)
		switch i % 5 {
		case 0:
			do("SET", key, value)
		case 1:
			do("RPUSH", key, value, i, "last")
		case 2:
			do("SADD", key, i, i+1)
		case 3:
			do("ZADD", key, float64(i)/3, value)
		case 4:
			do("HSET", key, "f", value, "g", i)
		}
		if i%7 == 0 {
			do("PEXPIREAT", key, Far+int64(i))
		}
	}
	do("SET", "\x00\xff\r\n \"", "of a strange name")
	for i := range elements {
		s := strconv.Itoa(i)
		do("RPUSH", "large list", "element "+s)
		do("SADD", "large set", "element "+s)
		do("ZADD", "large sorted set", i%100, "element "+s)
		do("HSET", "large hash", "field "+s, i)
	}
	return commands
}
