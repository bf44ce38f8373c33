// Package cluster runs real quoll processes on this machine, for black-box tests: it
// builds the binary, starts nodes and proxies on free loopback ports, kills, stops, continues and
// restarts them, and cleans up after the test. When a test fails it shows their logs.
//
//	c := cluster.Start(t, cluster.Config{Nodes: 3, Proxies: 1})
//	c.Nodes[0].Kill()
//	client := redis.NewClient(&redis.Options{Addr: c.Proxies[0].Client})
//
// E2E_BINARY names a binary to test instead of building one; E2E_BUILD_FLAGS are
// given to go build, for example -race: a data race that a process reports fails the test.
package cluster
