package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// With -types two questions are asked of lists, sets and sorted sets. Do their commands stand beside a redis-server's as SET and GET do, on small keys and on large ones? All
// are measured on the same servers, in turns. And how much memory do many small ones take, and a large one?

// valueType is one of the types that are measured: what loads it, and its operations.
type valueType struct {
	name       string
	operations []string // names of commands of quoll bench, of which the first one loads
}

var valueTypes = []valueType{
	{"list", []string{"LPOP"}}, // with LPUSH in half of it
	{"set", []string{"SADD", "SISMEMBER"}},
	{"sorted set", []string{"ZADD", "ZRANGE", "ZSCORE"}},
}

// against returns the operation on strings that one on another type is held against.
func against(operation string) string {
	switch operation {
	case "SISMEMBER", "ZRANGE", "ZSCORE", "GET":
		return "GET"
	}
	return "SET"
}

// typePoint is one measurement of commands, Type being "" for those on strings, or, with Bytes, of memory.
type typePoint struct {
	Type string `json:"type"`
	// Elements is how many a key has.
	Elements int `json:"elements"`
	measure
	// Bytes is how much memory a key of one copy takes.
	Bytes float64 `json:"memory_bytes_per_copy,omitempty"`
}

// What Quoll is told that a collection may take: 10^7 elements take more than it has by default. On disk there is a limit.
const (
	largestCollection       = "1GiB"
	largestCollectionOnDisk = "128MiB"
)

// collection is how much a collection may take on the engine.
func (p *plan) collection() string {
	if p.onDisk() {
		return largestCollectionOnDisk
	}
	return largestCollection
}

// typesAll measures commands with keys of few elements and of many, and then memory. What cannot be done does not keep the rest from being measured.
func (p *plan) typesAll(ctx context.Context) (all []typePoint, err error) {
	attempt := attempts(ctx, &all, &err)
	for _, elements := range p.sizes {
		for round := 1; round <= p.rounds; round++ {
			for i := range p.systems {
				s := p.systems[(i+round-1)%len(p.systems)]
				attempt(fmt.Sprintf("%d elements, round %d of %d: %s", elements, round, p.rounds, s.name), func() ([]typePoint, error) { return p.typeCommands(ctx, s, elements, round) })
			}
		}
	}
	for _, t := range valueTypes {
		for _, shape := range []struct{ keys, elements int }{{p.filled / smallFields, smallFields}, {1, p.filled}} {
			if p.filled == 0 {
				continue
			}
			for _, s := range p.systems {
				attempt(fmt.Sprintf("memory of %d %ss of %d elements: %s", shape.keys, t.name, shape.elements, s.name), func() ([]typePoint, error) {
					return p.typeMemory(ctx, s, t, shape.keys, shape.elements)
				})
			}
		}
	}
	return all, err
}

// engineOf returns the engine of a system that stands beside an engine of Quoll.
func (p *plan) engineOf(s system) string {
	if s.name != quollName && p.onDisk() {
		return appendOnly
	}
	return p.engine
}

// typeCommands measures strings and all types in turn on one system.
func (p *plan) typeCommands(ctx context.Context, s system, elements, round int) (points []typePoint, err error) {
	changed := *p
	changed.engine, changed.maxCollection = p.engineOf(s), p.collection()
	args := []string{"--fields", strconv.Itoa(elements)}
	if elements > smallFields {
		args = append(args, "--keys", strconv.Itoa(fewHashes))
	}
	err = changed.at(ctx, s, func(site *site, to target) error {
		for _, t := range append([]valueType{{"", []string{"SET", "GET"}}}, valueTypes...) {
			shape := args
			if t.name == "" {
				shape = nil
			}
			if err := changed.load(ctx, s, to, loadDepth(elements), append([]string{"--commands", t.operations[0]}, shape...)...); err != nil {
				return err
			}
			for _, depth := range p.depths {
				for _, op := range t.operations {
					m, err := site.measure(ctx, to, op, depth, shape...)
					if err != nil {
						return err
					}
					m.System, m.Round = s.name, round
					fmt.Fprintf(os.Stderr, "  %s, depth %d: %.0f/s, p99 %s, %.1f µs of CPU each\n", op, depth, m.Throughput, inUnits(m.P99), m.CPU)
					points = append(points, typePoint{Type: t.name, Elements: elements, measure: m})
				}
			}
		}
		return nil
	})
	return points, err
}

// loadDepth is how many commands of loading are in a pipeline: those of large keys are long.
func loadDepth(elements int) int {
	if elements > smallFields {
		return 1
	}
	return 16
}

// memoryPatience is how long servers are let be before their memory is read: until what was needed for a moment is given back.
const memoryPatience = 15 * time.Second

// typeMemory measures how much more memory a system takes with some keys of a type.
func (p *plan) typeMemory(ctx context.Context, s system, t valueType, keys, elements int) (points []typePoint, err error) {
	changed := *p
	changed.engine, changed.keys, changed.maxCollection, changed.value = p.engineOf(s), keys, p.collection(), memoryValue
	err = changed.at(ctx, s, func(site *site, to target) error {
		before, err := site.used(ctx, to)
		if err != nil {
			return err
		}
		if err := changed.load(ctx, s, to, loadDepth(elements), "--commands", t.operations[0], "--fields", strconv.Itoa(elements)); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(memoryPatience):
		}
		after, err := site.used(ctx, to)
		if err != nil {
			return err
		}
		pt := typePoint{Type: t.name, Elements: elements, measure: measure{System: s.name}, Bytes: float64(after-before) / float64(keys*max(1, to.copies))}
		fmt.Fprintf(os.Stderr, "  %.0f B for a key, %.1f for an element\n", pt.Bytes, pt.Bytes/float64(elements))
		points = append(points, pt)
		return nil
	})
	return points, err
}

// memoryValue is how long elements of lists are when memory is measured: about as long as members of sets.
const memoryValue = 8

// used is the memory that the servers with data say they use, if they say it (Redis), or have: what is around it counts, too.
func (s *site) used(ctx context.Context, to target) (n int64, err error) {
	if to.copies > 0 {
		return s.memory()
	}
	for _, address := range to.addresses {
		err := ask(ctx, address, func(c *redis.Client) error {
			text, err := c.Info(ctx, "memory").Result()
			if err != nil {
				return err
			}
			_, rest, _ := strings.Cut(text, "used_memory:")
			var bytes int64
			if _, err := fmt.Sscan(rest, &bytes); err != nil {
				return fmt.Errorf("used_memory of %s: %w", address, err)
			}
			n += bytes
			return nil
		})
		if err != nil {
			return 0, err
		}
	}
	return n, nil
}
