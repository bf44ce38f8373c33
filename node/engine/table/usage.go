package table

import (
	"slices"

	"github.com/quolldb/quoll/internal/eviction"
)

// A page has the usages of its entries in a list of their own, which begins with the first that is noted: where nobody asks for them they take no memory.

// Usage returns what was noted of the use of the entry's key, if that is known.
func (r Ref) Usage() (u eviction.Usage, known bool) {
	if r.page.usages == nil {
		return 0, false
	}
	return r.page.usages[r.index], true
}

// SetUsage notes how the entry's key is used. Of the other keys of the page, if nothing is known of them, it notes the same: they are no older than that anybody could tell.
func (r Ref) SetUsage(u eviction.Usage) {
	p := r.page
	if p.usages == nil {
		p.usages = take[eviction.Usage](p.arena, cap(p.entries))
		for range p.entries {
			p.usages = append(p.usages, u)
		}
	}
	p.usages[r.index] = u
}

// insertUsage makes room for that of a new entry, of which nothing is known yet.
func (p *page) insertUsage(index, room int) {
	if p.usages == nil {
		return
	}
	if len(p.usages) == cap(p.usages) {
		p.usages = refit(p.arena, p.usages, room)
	}
	p.usages = slices.Insert(p.usages, index, 0)
}

func (p *page) removeUsage(index int) {
	if p.usages != nil {
		p.usages = slices.Delete(p.usages, index, index+1)
	}
}

// refitUsages returns the usages in memory that has room for so many more.
func (p *page) refitUsages(room int) []eviction.Usage {
	if p.usages == nil {
		return nil
	}
	return refit(p.arena, p.usages, room)
}

// splitUsages gives those from cut on to another page.
func (p *page) splitUsages(cut int, upper *page) {
	if p.usages == nil {
		return
	}
	all := p.usages
	upper.usages = fit(p.arena, all[cut:], pageStep)
	p.usages = fit(p.arena, all[:cut], pageStep)
	release(p.arena, all)
}

// mergeUsages takes over those of the page's upper half, before its entries are. Where only one of the two has any it begins anew.
func (p *page) mergeUsages(upper *page) {
	if p.usages == nil || upper.usages == nil {
		release(p.arena, p.usages)
		p.usages = nil
		return
	}
	p.usages = append(refit(p.arena, p.usages, len(upper.usages)), upper.usages...)
}
