// Package cluster runs real quoll processes on this machine, for black-box tests: it
// builds the binary, starts nodes and proxies on free loopback ports, kills, stops, continues and
// restarts them, and cleans up after the test. When a test fails it shows their logs.
//
//	c := cluster.Start(t, cluster.Config{Nodes: 3, Proxies: 1})
//	c.Nodes[0].Kill()
//	client := redis.NewClient(&redis.Options{Addr: c.Proxies[0].Client})
//
// With Config.Faults the processes are of a second binary, built with the tag faults, whose
// peer transport loses, holds and repeats frames on command:
//
//	c.Cut(c.Nodes[0], c.Nodes[1]) // what a sends to b vanishes
//	c.Heal()
//
// Nodes with the engine badger keep their data over restarts:
//
//	c := cluster.Start(t, cluster.Config{Nodes: 3, Proxies: 1, Engine: "badger", Fsync: "always"})
//	c.KillAll()
//	c.StartAll()
//
// E2E_BINARY and E2E_FAULTS_BINARY name binaries to test instead of building them;
// E2E_BUILD_FLAGS are given to go build, for example -race: a data race that a process
// reports fails the test. The logs of a failing test's processes are among its artefacts
// (internal/artifact).
package cluster
