// Package scenarios shows, one test a promise, what happens to clients when deploy/compose.yaml is broken as
// a data centre breaks things (e2e/compose):
//
//	make e2e                                  # all of them
//	make e2e ONLY=TestOneNodePaused
//	make e2e SHORT=1                          # a few, in less than six minutes
//	make soak T=1h                            # everything at random, invariants watched
//
// Flags say how long what lasts should last:
//
//	go test ./e2e/scenarios -docker -run TestLongPartition -partition 30m -timeout 0 -v
//	go test ./e2e/scenarios -docker -run TestHungReplica -hang 5m -timeout 0 -v
//
// While a scenario runs, go-redis clients work at every proxy. What they saw is recorded and checked
// (internal/history), what was acknowledged is read back in the end, and everything is timed: folder
// bin/e2e/TEST has the containers' logs, the histories and timeline.svg, the operations per second and the
// latencies with the faults marked, also of a run that passed.
//
// Machines differ, and are busy: how fast a faulty cluster has to be is measured against the same one in the seconds
// before the fault.
package scenarios
