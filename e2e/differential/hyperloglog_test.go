//go:build unix

package differential

import "strconv"

// sketchKey is a key that nothing but commands of HyperLogLogs writes.
const sketchKey = "sketch"

func (g *generator) sketch() string { return pick(g, sketchKey, sketchKey, "{sketch}2", g.key()) }

func (g *generator) sketches() []string { return append([]string{g.sketch()}, g.some(g.sketch, 3)...) }

// pfAdd adds no more than one element to what other commands may have written: Redis adds those before it notices that the rest is corrupt.
func (g *generator) pfAdd() []string {
	if g.chance(20) {
		return append([]string{g.key()}, g.some(g.value, 1)...)
	}
	args := []string{pick(g, sketchKey, sketchKey, "{sketch}2")}
	for range g.intn(pick(g, 3, 20, 400)) {
		args = append(args, strconv.Itoa(g.intn(pick(g, 50, 1_000_000_000))))
	}
	return args
}
