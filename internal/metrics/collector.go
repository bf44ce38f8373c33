package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
)

// collector reads the fields of a Node or a Proxy when somebody scrapes.
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
	c.value(prometheus.CounterValue, name, help, func() float64 { return float64(counter.Value()) })
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

// histogram shows a Histogram, its bounds multiplied by scale.
func (c *collector) histogram(name, help string, h *Histogram, scale float64) {
	desc := c.describe(name, help)
	c.collect = append(c.collect, func(ch chan<- prometheus.Metric) {
		count, sum, atMost := h.cumulate(scale)
		ch <- prometheus.MustNewConstHistogram(desc, count, sum, atMost)
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
