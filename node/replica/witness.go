//go:build !small

package replica

import "github.com/quolldb/quoll/node/register"

// witness shows nothing to anybody, but in builds with the tag small.
func witness(*register.Outgoing) {}
