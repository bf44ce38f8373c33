package route

import "testing"

// StartForTest returns a coordinator with a ring of three fake nodes, for the tests of what is above it.
func StartForTest(t testing.TB) *Coordinator { return startRing(t, 3).coordinator(patient) }
