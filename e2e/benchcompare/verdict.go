package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// figure is an operation at a depth.
type figure struct {
	Op    string `json:"op"`
	Depth int    `json:"depth"`
}

func (f figure) String() string { return fmt.Sprintf("%s at depth %d", f.Op, f.Depth) }

// pair is what a figure cost both systems, one right after the other, in microseconds of CPU for each operation, and the larger of the shares that others had of the machine.
type pair struct {
	figure
	redis, quoll, others float64
}

// standing is where a figure stands: a redis-server's CPU time for each operation divided by Quoll's, over the rounds that count.
type standing struct {
	figure
	Median float64 `json:"median"`
	Least  float64 `json:"least"`
	Most   float64 `json:"most"`
	Rounds int     `json:"rounds"`
}

func (s standing) String() string {
	return fmt.Sprintf("redis/quoll %.3f (%.3f to %.3f in %d quiet rounds)", s.Median, s.Least, s.Most, s.Rounds)
}

// standings returns where the figures stand, in the order in which they were measured. What was measured while others had more than a share of the machine does not count.
func standings(pairs []pair, share float64) (all []standing) {
	ratios := map[figure][]float64{}
	for _, p := range pairs {
		if !slices.ContainsFunc(all, func(s standing) bool { return s.figure == p.figure }) {
			all = append(all, standing{figure: p.figure})
		}
		if p.others <= share {
			ratios[p.figure] = append(ratios[p.figure], p.redis/p.quoll)
		}
	}
	for i := range all {
		s := &all[i]
		if r := slices.Sorted(slices.Values(ratios[s.figure])); len(r) > 0 {
			s.Median, s.Least, s.Most, s.Rounds = middle(r), r[0], r[len(r)-1], len(r)
		}
	}
	return all
}

// rounds is how often every figure was measured at least.
func rounds(all []standing) int {
	if len(all) == 0 {
		return 0
	}
	least := math.MaxInt
	for _, s := range all {
		least = min(least, s.Rounds)
	}
	return least
}

// table has a line for each.
func table(all []standing) string {
	var b strings.Builder
	for _, s := range all {
		fmt.Fprintf(&b, "%v: %v\n", s.figure, s)
	}
	return b.String()
}

// tolerated is the share by which a ratio may be below the recorded one.
const tolerated = 0.10

// change is how a figure stands beside what is recorded of it.
type change struct{ now, before standing }

// by is the share by which the ratio has changed.
func (c change) by() float64 { return c.now.Median/c.before.Median - 1 }

// changes puts beside each figure that is recorded where it stands now.
func changes(now, before []standing) (all []change, err error) {
	for _, b := range before {
		i := slices.IndexFunc(now, func(n standing) bool { return n.figure == b.figure })
		if i < 0 || !(b.Median > 0) {
			return nil, fmt.Errorf("%v is recorded as %g, which nothing can be compared with", b.figure, b.Median)
		}
		all = append(all, change{now[i], b})
	}
	return all, nil
}

// fallen are those that are further below than is tolerated.
func fallen(all []change) (fell []change) {
	for _, c := range all {
		if c.by() < -tolerated {
			fell = append(fell, c)
		}
	}
	return fell
}

// judge prints how everything stands, and fails if something fell.
func judge(now, before recording) error {
	all, err := changes(now.Ratios, before.Ratios)
	if err != nil {
		return err
	}
	for _, c := range all {
		fmt.Printf("%v: %v, %+.1f %% against %.3f of %s\n", c.now.figure, c.now, 100*c.by(), c.before.Median, before.Date)
	}
	fell := fallen(all)
	if len(fell) == 0 {
		return nil
	}
	var what []string
	for _, c := range fell {
		what = append(what, fmt.Sprintf("%v %+.0f %%", c.now.figure, 100*c.by()))
	}
	return fmt.Errorf("Quoll does less with its CPU time, compared with a redis-server, than was recorded of %s: %s. "+
		"Look for the commit that did it (bench-budget shows where the time goes); if it is worth that, make bench-guard RECORD=1 records anew, and a commit of its own says why", before.Quoll, strings.Join(what, ", "))
}
