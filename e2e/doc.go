// Package e2e tests the real binary from outside, over loopback: with unmodified
// Redis clients, with nodes that are killed, restarted and hang, with links that are cut and slow, with
// damaged files, hostile bytes and wrong configurations. It knows nothing of the code that it tests but
// the documented JSON of the admin API, the format of backups, and how peers meet.
//
// What clients saw under faults is recorded and checked (internal/history). A failing test names
// a folder with the history, pictures of what is wrong in it, the faults, and the processes' logs;
// QUOLL_ARTIFACTS says where such folders are made. TestChaos breaks everything at once:
//
//	go test ./e2e -run TestChaos -chaos 10m -timeout 0 -v
//
// TestCrashAll kills and restarts the nodes of a durable engine, all at once and in other ways:
//
//	go test ./e2e -run TestCrashAll -crash 10m -timeout 0 -v
//
// TestConverge has a node miss writes and waits until it holds what the others hold:
//
//	go test ./e2e -run TestConverge -converge 100000 -timeout 0 -v
//
// Tests that need a program which is not installed (redis-cli, redis-benchmark,
// python3 with redis-py) skip and say so. "go test -short ./e2e" runs a reduced set.
package e2e
