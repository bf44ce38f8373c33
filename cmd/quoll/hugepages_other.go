//go:build !linux

package main

import (
	"context"
	"time"
)

func hugePages() (size uint64, asking bool) { return 0, false }

func askForHeap(_, _ uint64) uint64 { return 0 }

func mendHeap(context.Context, uint64) time.Duration { return 0 }
