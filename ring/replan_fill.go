package ring

import "container/heap"

// fill gives every slot the replicas that it lacks, each to the member that has the
// least of its share and that the slot may have. All these have to move anyway.
func (m *mover) fill() {
	queue := &fullness{m: m}
	for i := range m.members {
		queue.order = append(queue.order, i)
	}
	heap.Init(queue)
	var passed []int // members that the slot may not have
	for slot := range m.now {
		for len(m.now[slot]) < m.width {
			i := heap.Pop(queue).(int)
			passed = append(passed, i)
			if !m.layout.allows(m.now[slot], i) {
				continue
			}
			m.take(slot, i)
			m.load[i]++
			for _, i := range passed {
				heap.Push(queue, i)
			}
			passed = passed[:0]
		}
	}
}

// fullness is a heap of members, at the top the one with the least of its share.
type fullness struct {
	m     *mover
	order []int
}

func (f *fullness) Len() int { return len(f.order) }

// Less puts who is below its bound before who is not.
func (f *fullness) Less(a, b int) bool {
	a, b = f.order[a], f.order[b]
	if f.m.under(a) != f.m.under(b) {
		return f.m.under(a)
	}
	return f.m.fuller(a, b) < 0
}
func (f *fullness) Swap(a, b int) { f.order[a], f.order[b] = f.order[b], f.order[a] }
func (f *fullness) Push(i any)    { f.order = append(f.order, i.(int)) }
func (f *fullness) Pop() any {
	last := len(f.order) - 1
	i := f.order[last]
	f.order = f.order[:last]
	return i
}
