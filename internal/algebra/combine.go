package algebra

import (
	"cmp"
	"math"
	"slices"
)

// element is a member of the result.
type element struct {
	member string
	score  float64
}

// source is a collection that takes part, with its weight and how many members it has.
type source struct {
	Collection
	weight float64
	count  int
}

// combine returns what the command makes of the collections of its keys, in no particular order.
func (c *Command) combine(of []Collection) []element {
	all := make([]source, len(of))
	for i := range of {
		all[i] = source{of[i], 1, of[i].count()}
		if c.weights != nil {
			all[i].weight = c.weights[i]
		}
	}
	if c.operation == diff {
		return subtract(all)
	}
	// From the smallest one on, as Redis does: the sum of scores depends on the order.
	slices.SortStableFunc(all, func(a, b source) int { return cmp.Compare(a.count, b.count) })
	if c.operation == union {
		return c.unite(all)
	}
	return c.intersect(all)
}

func (c *Command) unite(all []source) (result []element) {
	places := make(map[string]int, all[len(all)-1].count)
	for _, from := range all {
		for member, score := range from.all() {
			score = number(score * from.weight)
			if i, there := places[member]; there {
				result[i].score = c.aggregate.of(result[i].score, score)
				continue
			}
			places[member] = len(result)
			result = append(result, element{member, score})
		}
	}
	return result
}

func (c *Command) intersect(all []source) []element {
	places, in := make(map[string]int, all[0].count), make([]int, all[0].count)
	result := make([]element, 0, all[0].count)
	for member, score := range all[0].all() {
		places[member] = len(result)
		result = append(result, element{member, number(score * all[0].weight)})
	}
	for n, from := range all[1:] {
		if len(places) == 0 {
			break
		}
		for member, score := range from.all() {
			if i, there := places[member]; there && in[i] == n {
				in[i]++
				result[i].score = c.aggregate.of(result[i].score, score*from.weight)
			}
		}
	}
	kept := result[:0]
	for i, e := range result {
		if in[i] == len(all)-1 {
			kept = append(kept, e)
		}
	}
	return kept
}

// subtract returns the members of the first collection that no other one has, with the scores that they have there.
func subtract(all []source) []element {
	gone := make(map[string]bool, all[0].count)
	for member := range all[0].all() {
		gone[member] = false
	}
	for _, from := range all[1:] {
		for member := range from.all() {
			if _, there := gone[member]; there {
				gone[member] = true
			}
		}
	}
	var result []element
	for member, score := range all[0].all() {
		if !gone[member] {
			result = append(result, element{member, score})
		}
	}
	return result
}

// number returns 0 for what is not a number, as a weight of 0 makes of an infinity.
func number(score float64) float64 {
	if math.IsNaN(score) {
		return 0
	}
	return score
}

// of returns the score of a member that has two. The sum of two opposite infinities is 0.
func (a aggregate) of(score, other float64) float64 {
	switch {
	case a == sum:
		return number(score + other)
	case a == lowest && other < score, a == highest && other > score:
		return other
	}
	return score
}
