// Package e2e tests the real binary from outside, over loopback: with unmodified
// Redis clients, with nodes that are killed and hang, with hostile bytes, and with wrong
// configurations. It knows nothing of the code that it tests but the documented JSON of the admin API.
//
// Tests that need a program which is not installed (redis-cli, redis-benchmark,
// python3 with redis-py) skip and say so. "go test -short ./e2e" runs a reduced set.
package e2e
