package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
)

// collector reads a Node or a Proxy when somebody scrapes.
type collector struct {
	constant prometheus.Labels
	descs    []*prometheus.Desc
	collect  []func(ch chan<- prometheus.Metric)
}

// Describe implements prometheus.Collector.
func (c *collector) Describe(ch chan<- *prometheus.Desc) {
	for _, desc := range c.descs {
		ch <- desc
	}
}

// Collect implements prometheus.Collector.
func (c *collector) Collect(ch chan<- prometheus.Metric) {
	for _, collect := range c.collect {
		collect(ch)
	}
}

func (c *collector) describe(name, help string, labels ...string) *prometheus.Desc {
	desc := prometheus.NewDesc(name, help, labels, c.constant)
	c.descs = append(c.descs, desc)
	return desc
}

// emit sends one value of a metric.
type emit func(value float64, labels ...string)

// values shows a metric with any number of labelled values, which read emits.
func (c *collector) values(kind prometheus.ValueType, name, help, label string, read func(emit)) {
	desc := c.describe(name, help, label)
	c.collect = append(c.collect, func(ch chan<- prometheus.Metric) {
		read(func(value float64, labels ...string) {
			ch <- prometheus.MustNewConstMetric(desc, kind, value, labels...)
		})
	})
}

// value shows a single number.
func (c *collector) value(kind prometheus.ValueType, name, help string, read func() float64) {
	desc := c.describe(name, help)
	c.collect = append(c.collect, func(ch chan<- prometheus.Metric) {
		ch <- prometheus.MustNewConstMetric(desc, kind, read())
	})
}

// counter shows a Counter.
func (c *collector) counter(name, help string, counter *Counter) {
	c.count(name, help, counter.Value)
}

// kind is a Counter that is one value of a metric's label.
type kind struct {
	value   string
	counter *Counter
}

// counters shows Counters as one metric, told apart by a label.
func (c *collector) counters(name, help, label string, kinds ...kind) {
	c.values(prometheus.CounterValue, name, help, label, func(emit emit) {
		for _, k := range kinds {
			emit(float64(k.counter.Value()), k.value)
		}
	})
}

// count shows a number that only grows.
func (c *collector) count(name, help string, read func() uint64) {
	c.value(prometheus.CounterValue, name, help, func() float64 { return float64(read()) })
}

// distribution shows a Distribution, its sum and bounds multiplied by scale.
func (c *collector) distribution(name, help string, read func() Distribution, scale float64) {
	desc := c.describe(name, help)
	c.collect = append(c.collect, func(ch chan<- prometheus.Metric) {
		d := read()
		upTo := make(map[float64]uint64, len(d.UpTo))
		for bound, n := range d.UpTo {
			upTo[bound*scale] = n
		}
		ch <- prometheus.MustNewConstHistogram(desc, d.Count, float64(d.Sum)*scale, upTo)
	})
}

// named pairs an array of Counters with the values of a label. Counters without a
// name are left out.
func named(counters []Counter, names []string) []kind {
	var kinds []kind
	for i, name := range names {
		if name != "" {
			kinds = append(kinds, kind{name, &counters[i]})
		}
	}
	return kinds
}
