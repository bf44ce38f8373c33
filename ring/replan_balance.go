package ring

import "slices"

// balance exchanges replicas until every member is within its bounds, at the least
// cost that it finds: an exchange costs one move if the slot loses a member that
// holds it and gains one that does not, none if one of the two was to move anyway,
// and saves one if both were.
//
// That is a flow of the least cost. What keep and fill have made costs the least that
// is possible without bounds, and from there each further step takes a cheapest way,
// as in the algorithm of successive shortest paths: all that costs nothing comes
// before what costs a move. Of equal cost are exchanges that lead straight from a
// member with too much to one with too little before those of which only one end is
// out of bounds, and these before chains of exchanges by way of others
// (replan_chain.go), for which there is need where racks or few members leave no
// straight way.
func (m *mover) balance() {
	for cost := -1; cost <= 1; cost++ {
		for _, ends := range m.ends() {
			m.straight(cost, ends)
		}
		for _, ends := range m.ends() {
			m.chains(cost, ends)
		}
	}
}

// ends says who gives and who takes.
type ends struct{ gives, takes func(member int) bool }

func (m *mover) ends() []ends {
	return []ends{{m.over, m.under}, {m.over, m.hasRoom}, {m.canSpare, m.under}}
}

func (m *mover) over(i int) bool     { return m.load[i] > m.bounds.high[i] }
func (m *mover) under(i int) bool    { return m.load[i] < m.bounds.low[i] }
func (m *mover) hasRoom(i int) bool  { return m.load[i] < m.bounds.high[i] }
func (m *mover) canSpare(i int) bool { return m.load[i] > m.bounds.low[i] }

// straight makes exchanges of the cost from members that may give to members that
// may take, as long as there are any. Who has the most of its share gives first,
// who has the least takes first.
func (m *mover) straight(cost int, e ends) {
	from, to := m.matching(e.gives), m.matching(e.takes)
	for len(from) > 0 && len(to) > 0 {
		// The fewer members decide in which order: they are those out of bounds.
		if len(from) <= len(to) {
			giver := slices.MaxFunc(from, m.fuller)
			if !m.giveOne(cost, giver, m.sorted(to, 1)) {
				from = remove(from, giver)
			}
		} else {
			taker := slices.MinFunc(to, m.fuller)
			if !m.takeOne(cost, m.sorted(from, -1), taker) {
				to = remove(to, taker)
			}
		}
		from = slices.DeleteFunc(from, func(i int) bool { return !e.gives(i) })
		to = slices.DeleteFunc(to, func(i int) bool { return !e.takes(i) })
	}
}

func (m *mover) matching(is func(int) bool) []int {
	var all []int
	for i := range m.members {
		if is(i) {
			all = append(all, i)
		}
	}
	return all
}

func (m *mover) sorted(members []int, sign int) []int {
	slices.SortFunc(members, func(a, b int) int { return sign * m.fuller(a, b) })
	return members
}

func remove(members []int, i int) []int {
	return slices.DeleteFunc(members, func(j int) bool { return i == j })
}

func (m *mover) giveOne(cost, from int, takers []int) bool {
	return slices.ContainsFunc(takers, func(to int) bool { return m.exchange(cost, from, to) })
}

func (m *mover) takeOne(cost int, givers []int, to int) bool {
	return slices.ContainsFunc(givers, func(from int) bool { return m.exchange(cost, from, to) })
}

// exchange gives one slot of "from" to "to" if one can be found at the cost, or at
// less.
func (m *mover) exchange(cost, from, to int) bool {
	slot := m.find(cost, from, to)
	if slot < 0 {
		return false
	}
	m.give(slot, from, to)
	return true
}

// find returns a slot that "from" may give to "to" at the cost or less, -1 if there
// is none. Only exchanges of cost 1 are looked for among all slots: the others are
// where something moves anyway.
func (m *mover) find(cost, from, to int) int {
	is := func(slot int) bool { return m.mayGive(slot, from, to) && m.cost(slot, from, to) <= cost }
	for _, list := range [][]int{m.gained[from], m.lost[to]} {
		if i := slices.IndexFunc(list, is); i >= 0 {
			return list[i]
		}
	}
	if cost < 1 {
		return -1
	}
	held := m.held[from]
	for range held { // goes on where the last look ended: what was refused there often is again
		m.next[from] = (m.next[from] + 1) % len(held)
		if slot := held[m.next[from]]; is(slot) {
			return slot
		}
	}
	return -1
}

func (m *mover) mayGive(slot, from, to int) bool {
	now := m.now[slot]
	return from != to && slices.Contains(now, from) && !slices.Contains(now, to) && m.layout.allowsExchange(now, from, to)
}

func (m *mover) cost(slot, from, to int) int {
	cost := 0
	if !slices.Contains(m.before[slot], to) {
		cost++
	}
	if !slices.Contains(m.before[slot], from) {
		cost--
	}
	return cost
}

func (m *mover) give(slot, from, to int) {
	now := m.now[slot]
	now[slices.Index(now, from)] = to
	m.load[from]--
	m.load[to]++
	m.note(slot, to)
	if slices.Contains(m.before[slot], from) {
		m.lost[from] = append(m.lost[from], slot)
	}
}
