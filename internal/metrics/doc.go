// Package metrics shows to Prometheus what a process does.
//
// Counting costs one atomic addition: a Counter is a field of Node, whose zero value is
// ready, and nothing is looked up by name or label. A proxy counts by itself and lends its
// numbers (Proxy). Prometheus' data model (names, labels, help) appears only when
// somebody scrapes what was registered in a Registry.
package metrics
