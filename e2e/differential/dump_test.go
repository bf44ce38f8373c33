//go:build unix

package differential

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/quolldb/quoll/internal/rdb"
)

// restore draws a payload, of the kinds of values that Quoll has, or what is nearly one.
func (g *generator) restore() []string {
	args := []string{g.key(), pick(g, "0", "0", g.relative(1000), g.integer())}
	if len(args[1]) > 18 { // Redis adds it to the time without looking
		args[1] = "-5"
	}
	if n, err := strconv.Atoi(args[1]); err == nil && n > 0 && n < 1000 { // which is over on one server, and not yet on the other one
		args[1] = "0"
	}
	args = append(args, pick(g, g.payload, g.payload, g.payload, g.value)())
	for range g.intn(3) {
		args = append(args, pick(g, []string{g.word("REPLACE")}, []string{g.word("REPLACE")}, []string{g.word("IDLETIME"), g.integer()},
			[]string{g.word("FREQ"), pick(g, "0", "255", "256", "-1", "x")}, []string{pick(g, "IDLETIME", "ABSTTL FREQ", "")})...)
	}
	return args
}

func (g *generator) payload() string {
	if g.chance(50) {
		return string(rdb.Seal(rdb.AppendItem(rdb.Begin(nil, rdb.String, 1), []byte(g.value()))))
	}
	fields := g.some(g.field, 20)
	slices.Sort(fields)
	fields = slices.Compact(fields)
	if g.chance(50) {
		out := rdb.Begin(nil, rdb.Set, len(fields))
		for _, field := range fields {
			out = rdb.AppendItem(out, []byte(field))
		}
		return string(rdb.Seal(out))
	}
	out := rdb.Begin(nil, rdb.Hash, len(fields))
	for _, field := range fields {
		out = rdb.AppendItem(rdb.AppendItem(out, []byte(field)), []byte(g.value()))
	}
	return string(rdb.Seal(out))
}

// sameDump reports whether two payloads have the same items: they may have been encoded in other ways.
func sameDump(redis, quoll string) bool {
	a, errA := items(redis)
	b, errB := items(quoll)
	return errA == nil && errB == nil && slices.Equal(a, b)
}

// items returns the kind of a payload and its items, those of a hash as fields with their values, sorted if they have no order.
func items(payload string) (all []string, err error) {
	v, err := rdb.Open([]byte(payload), 1<<30)
	if err != nil {
		return nil, err
	}
	half := ""
	err = v.Each(func(item []byte, score float64) error {
		if v.Kind == rdb.Hash && half == "" {
			half = "field:" + string(item)
			return nil
		}
		all = append(all, fmt.Sprint(half, "\x00", string(item), score))
		half = ""
		return nil
	})
	if v.Kind != rdb.String && v.Kind != rdb.List {
		slices.Sort(all)
	}
	return append(all, string(rune('0'+v.Kind))), err
}
