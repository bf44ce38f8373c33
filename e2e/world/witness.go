//go:build !small

package world

// watch is nothing in builds in which homes do not tell what they propose: replicas know versions and states only.
func (r *replicas) watch() {}
