// Package archtest holds the tree against the rules of ARCHITECTURE.md: who may
// import whom, and where each library lives. It consists of a test; the rules, each
// with its reason, are in rules_test.go.
package archtest
