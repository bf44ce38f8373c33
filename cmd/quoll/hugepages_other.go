//go:build !linux

package main

import "context"

func hugePagesForThoseWhoAsk() bool { return false }

func askForHeap(uint64) uint64 { return 0 }

func mendHeap(context.Context) {}
