package ring

import (
	"fmt"
	"math"
	"slices"
)

// leastMoves is the minimum against which Replan is measured: the least number of
// replicas that slots gain, over all assignments in which every slot has its
// replicas, spread over racks as evenly as the layout demands, and every member's
// load is within its bounds. It is found without anything of Replan: exactly, as a
// minimum-cost flow, where there are few kinds of slots (those that the same members
// hold are of one kind). Else it is a number that the minimum can't be below; and
// where that is too low to show anything, the moves made, if no cycle of exchanges
// saves one, for a flow without such a cycle is of the least cost.
func leastMoves(present, target [][]uint16, moved int, members []Member, l layout, b bounds) int {
	if len(members) <= 9 {
		return exactLeast(present, members, l, b)
	}
	least := boundOfLeast(present, members, l, b)
	if float64(moved) > 1.05*float64(least) && !canSave(present, target, members, l, b) {
		return moved
	}
	return least
}

// canSave reports whether there is a cycle of exchanges of negative cost.
func canSave(present, target [][]uint16, members []Member, l layout, b bounds) bool {
	n := len(members)
	load, at := make([]int, n), make(map[uint16]int)
	for i, m := range members {
		at[m.ID] = i
	}
	dist := make([][]int, n+1) // one more: the loads' room within their bounds
	for i := range dist {
		dist[i] = slices.Repeat([]int{math.MaxInt}, n+1)
	}
	for slot, ids := range target {
		var now, racks []int
		holds := make([]bool, n)
		for _, id := range ids {
			now = append(now, at[id])
			racks = append(racks, l.rack[at[id]])
			load[at[id]]++
		}
		for _, id := range present[slot] {
			if i, ok := at[id]; ok {
				holds[i] = true
			}
		}
		count := make([]int, len(l.size))
		for _, r := range racks {
			count[r]++
		}
		for _, from := range now {
			for to := range n {
				x, y := l.rack[from], l.rack[to]
				if slices.Contains(now, to) || x != y && (count[x] <= l.least[x] || count[y] >= l.most(y)) {
					continue
				}
				cost := 0
				if !holds[to] {
					cost++
				}
				if !holds[from] {
					cost--
				}
				dist[from][to] = min(dist[from][to], cost)
			}
		}
	}
	for i := range n {
		if load[i] < b.high[i] {
			dist[i][n] = 0
		}
		if load[i] > b.low[i] {
			dist[n][i] = 0
		}
	}
	cost := make([]int, n+1)
	for range n + 2 {
		changed := false
		for i := range dist {
			for j, c := range dist[i] {
				if c != math.MaxInt && cost[i]+c < cost[j] {
					cost[j], changed = cost[i]+c, true
				}
			}
		}
		if !changed {
			return false
		}
	}
	return true
}

// boundOfLeast is the greatest of three numbers: what slots lack after they kept all
// that their racks allow; what members lack; and what members have too much, which
// must be made up for elsewhere.
func boundOfLeast(present [][]uint16, members []Member, l layout, b bounds) int {
	load := make([]int, len(members))
	lack, have := 0, 0
	for _, ids := range present {
		racks, kept := make(map[int]int), 0
		for i, m := range members {
			if slices.Contains(ids, m.ID) {
				load[i]++
				have++
				racks[l.rack[i]]++
			}
		}
		extra := 0
		for rack, n := range racks {
			kept += min(n, l.least[rack])
			if n > l.least[rack] && l.hasRoom(rack) {
				extra++
			}
		}
		lack += l.width - kept - min(extra, l.extra)
	}
	missing, excess := 0, 0
	for i, n := range load {
		missing += max(0, b.low[i]-n)
		excess += max(0, n-b.high[i])
	}
	return max(lack, missing, excess+Slots*l.width-have)
}

// exactLeast sends width units of flow from each slot by way of its racks to the
// members, at cost 1 where the member does not hold the slot.
func exactLeast(present [][]uint16, members []Member, l layout, b bounds) int {
	kinds := make(map[string][]int)
	count := make(map[string]int)
	for _, ids := range present {
		var holds []int
		for i, m := range members {
			if slices.Contains(ids, m.ID) {
				holds = append(holds, i)
			}
		}
		kinds[fmt.Sprint(holds)] = holds
		count[fmt.Sprint(holds)]++
	}
	const must = -1_000_000 // the cost of what has to be used
	f := &flow{}
	source, sink := f.node(), f.node()
	var nodes []int
	for i := range members {
		nodes = append(nodes, f.node())
		f.edge(nodes[i], sink, b.low[i], must)
		f.edge(nodes[i], sink, b.high[i]-b.low[i], 0)
	}
	for key, holds := range kinds {
		n := count[key]
		kind := f.node()
		f.edge(source, kind, n*l.width, 0)
		for rack := range l.size {
			r := f.node()
			f.edge(kind, r, n*l.least[rack], must)
			f.edge(kind, r, n*(l.most(rack)-l.least[rack]), 0)
			for i := range members {
				if l.rack[i] == rack {
					cost := 1
					if slices.Contains(holds, i) {
						cost = 0
					}
					f.edge(r, nodes[i], n, cost)
				}
			}
		}
	}
	total := f.run(source, sink)
	return ((total % must) - must) % -must // without what had to be used
}

// flow is a network, and finds its maximum flow of the least cost by way of shortest
// augmenting paths.
type flow struct {
	to, room, cost []int // of each edge; edge e^1 is the reverse of e
	from           [][]int
}

func (f *flow) node() int {
	f.from = append(f.from, nil)
	return len(f.from) - 1
}

func (f *flow) edge(a, b, room, cost int) {
	f.from[a] = append(f.from[a], len(f.to))
	f.from[b] = append(f.from[b], len(f.to)+1)
	f.to, f.room, f.cost = append(f.to, b, a), append(f.room, room, 0), append(f.cost, cost, -cost)
}

func (f *flow) run(source, sink int) (total int) {
	for {
		cost, via, queued := make([]int, len(f.from)), make([]int, len(f.from)), make([]bool, len(f.from))
		for i := range cost {
			cost[i] = math.MaxInt
		}
		cost[source] = 0
		for queue := []int{source}; len(queue) > 0; queue = queue[1:] {
			a := queue[0]
			queued[a] = false
			for _, e := range f.from[a] {
				if b := f.to[e]; f.room[e] > 0 && cost[a]+f.cost[e] < cost[b] {
					cost[b], via[b] = cost[a]+f.cost[e], e
					if !queued[b] {
						queue, queued[b] = append(queue, b), true
					}
				}
			}
		}
		if cost[sink] == math.MaxInt {
			return total
		}
		amount := math.MaxInt
		for at := sink; at != source; at = f.to[via[at]^1] {
			amount = min(amount, f.room[via[at]])
		}
		for at := sink; at != source; at = f.to[via[at]^1] {
			f.room[via[at]] -= amount
			f.room[via[at]^1] += amount
		}
		total += amount * cost[sink]
	}
}
