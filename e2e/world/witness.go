//go:build !small

package world

// watch is nothing in builds in which homes do not tell what they propose: lineage knows versions and states only.
func (l *lineage) watch() {}
