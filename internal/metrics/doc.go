// Package metrics counts what a process does and shows it to Prometheus.
//
// Counting costs one atomic addition: a metric is a field of Node or Proxy, the zero
// value of both is ready, and nothing is looked up by name or label. Prometheus' data
// model (names, labels, help) appears only when somebody scrapes: Register hands the
// fields to a Registry, which reads them then.
package metrics
