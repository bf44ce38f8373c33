//go:build !linux

package main

func hugePagesForThoseWhoAsk() bool { return false }

func askForHeap(uint64) uint64 { return 0 }
