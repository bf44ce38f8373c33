//go:build !small

package ring

// Slots is the number of hash slots, as in Redis Cluster.
const Slots = 16384
