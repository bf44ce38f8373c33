package timeline

import "time"

// column is what is drawn at one place of the time axis.
type column struct {
	from, to time.Duration
	rate     [outcomes]float64 // operations per second
	p50, p99 time.Duration     // 0 without an operation that succeeded
}

const maxColumns = 300

// columns sums intervals up, so that there are not more than a picture can show.
func columns(intervals []interval, width, end time.Duration) []column {
	each := (len(intervals) + maxColumns - 1) / maxColumns
	var all []column
	for i := 0; i < len(intervals); i += each {
		var sum interval
		for _, one := range intervals[i:min(i+each, len(intervals))] {
			sum.merge(interval{count: one.count, latency: one.latency.clone()})
		}
		c := column{from: time.Duration(i) * width}
		c.to = max(min(c.from+time.Duration(each)*width, end), c.from+width)
		for o, n := range sum.count {
			c.rate[o] = float64(n) / (c.to - c.from).Seconds()
		}
		if sum.latency != nil {
			c.p50, c.p99 = sum.latency.percentile(0.5), sum.latency.percentile(0.99)
		}
		all = append(all, c)
	}
	return all
}

// clone returns a copy that may be merged into.
func (h *histogram) clone() *histogram {
	if h == nil {
		return nil
	}
	c := *h
	return &c
}
