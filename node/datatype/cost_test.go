package datatype

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/record"
)

// smallHash is a hash of ten fields as quoll bench makes them.
func smallHash() record.State {
	var pairs []string
	for i := range 10 {
		pairs = append(pairs, fmt.Sprintf("field%03d", i), strings.Repeat("v", 64))
	}
	return hashOf(pairs...)
}

// smallChanges are commands on the fields of smallHash.
func smallChanges() [][]string {
	value := strings.Repeat("w", 64)
	return [][]string{{"HSET", "k", "field007", value}, {"HSET", "k", "new", value}, {"HSETNX", "k", "new", value}, {"HINCRBY", "k", "new", "5"},
		{"HMSET", "k", "field001", value, "field007", value}, {"HDEL", "k", "field007"}, {"HGET", "k", "field007"}}
}

// TestASmallHashAllocatesNothing: what changes, or reads, a field of it, at the home and at the other replicas.
func TestASmallHashAllocatesNothing(t *testing.T) {
	st := smallHash()
	for _, words := range smallChanges() {
		req, dst := request(words...), make([]byte, 0, 4096)
		req.Owned = true // as that of a home is
		require.Zero(t, testing.AllocsPerRun(100, func() { dst, _ = Execute(dst[:0], st, req, testNow) }), words)
		_, eff := Execute(nil, st, req, testNow)
		if eff.Kind != record.Changed {
			continue
		}
		var a Applier
		require.Zero(t, testing.AllocsPerRun(100, func() {
			if _, err := a.Apply(st, eff.Delta); err != nil {
				panic(err)
			}
		}), words)
	}
}

// TestAnApplierUsesItsMemoryAgain: what it has returned is good until the next call, and right.
func TestAnApplierUsesItsMemoryAgain(t *testing.T) {
	var a Applier
	st := smallHash()
	for _, words := range smallChanges() {
		_, eff := Execute(nil, st, request(words...), testNow)
		if eff.Kind != record.Changed {
			continue
		}
		want, err := Apply(st, eff.Delta)
		require.NoError(t, err)
		got, err := a.Apply(st, eff.Delta)
		require.NoError(t, err)
		require.Equal(t, want, got)
		require.Same(t, &a.room[0], &got.Value[0])
	}
}

// BenchmarkSmallHash is what one field of a small hash costs: at the home, and at another replica that is sent the delta.
func BenchmarkSmallHash(b *testing.B) {
	st := smallHash()
	for _, words := range smallChanges() {
		b.Run(fmt.Sprint(words[0], words[2]), func(b *testing.B) {
			req, dst := request(words...), []byte(nil)
			req.Owned = true
			b.ReportAllocs()
			for b.Loop() {
				dst, _ = Execute(dst[:0], st, req, testNow)
			}
		})
	}
	b.Run("delta", func(b *testing.B) {
		_, eff := Execute(nil, st, request(smallChanges()[1]...), testNow)
		var a Applier
		b.ReportAllocs()
		for b.Loop() {
			if _, err := a.Apply(st, eff.Delta); err != nil {
				b.Fatal(err)
			}
		}
	})
}
