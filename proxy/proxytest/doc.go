// Package proxytest is what the tests of several of the proxy's packages share: a client that looks at the bytes of replies, scripts of random
// commands that know their replies, and a Cluster in memory.
package proxytest
