package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// With -messages what is pushed, and what waits, is held against a redis-server, beside SET, each over connections to one address:
//
//   - PUBLISH on one channel that one client subscribes to. A message counts when PUBLISH has answered that it was heard, and each must come.
//   - A hand-over: one client waits with BLPOP, another one does LPUSH when the former has come back for more. There are half as many pairs as connections, each with a list of its own.
//   - XADD to many streams, and to one.
//   - XREADGROUP of one entry, each connection being a consumer of one group of one stream.

// The names of what is measured.
const (
	opSet        = "SET"
	opPublish    = "PUBLISH"
	opHandOver   = "LPUSH, BLPOP"
	opXAdd       = "XADD"
	opXAddOne    = "XADD to one stream"
	opXReadGroup = "XREADGROUP"
)

// messageOps are in the order in which they are measured, each with what its ratio to redis-server should be: of that of SET if relative.
var messageOps = []struct {
	name     string
	aim      float64
	relative bool
	alone    bool                                            // pipelines make no sense
	fill     func(l *messageLoad, ctx context.Context) error // what there has to be, nil for nothing
	run      func(l *messageLoad, ctx context.Context) (measure, error)
}{
	{name: opSet, run: (*messageLoad).set},
	{name: opPublish, aim: 0.7, run: (*messageLoad).publish},
	{name: opHandOver, aim: 0.5, alone: true, run: (*messageLoad).handOver},
	{name: opXAdd, aim: 0.9, relative: true, run: (*messageLoad).xAdd},
	{name: opXAddOne, aim: 0.9, relative: true, run: (*messageLoad).xAddOne},
	{name: opXReadGroup, aim: 0.5, fill: (*messageLoad).fillStream, run: (*messageLoad).xReadGroup},
}

// messageLoad is one measurement at one server.
type messageLoad struct {
	*plan
	address string
	depth   int
	value   string
	name    string // begins the keys, so that no measurement sees another one's
}

// messagesAll measures all of it, with both systems in turns.
func (p *plan) messagesAll(ctx context.Context) (all []measure, err error) {
	attempt := attempts(ctx, &all, &err)
	for round := 1; round <= p.rounds; round++ {
		for i := range p.systems {
			s := p.systems[(i+round-1)%len(p.systems)]
			attempt(fmt.Sprintf("round %d of %d: %s", round, p.rounds, s.title), func() ([]measure, error) { return p.messages(ctx, s, round) })
		}
	}
	return all, err
}

// messages measures one system.
func (p *plan) messages(ctx context.Context, s system, round int) (all []measure, err error) {
	err = p.at(ctx, s, func(site *site, to target) error {
		for _, depth := range p.depths {
			for _, op := range messageOps {
				if op.alone && depth > 1 {
					continue
				}
				l := &messageLoad{plan: p, address: to.addresses[0], depth: depth, value: strings.Repeat("x", p.value), name: fmt.Sprintf("%s:%d:", op.name, depth)}
				if op.fill != nil {
					if err := op.fill(l, ctx); err != nil {
						return fmt.Errorf("%s: %w", op.name, err)
					}
				}
				before, err := cpuOf(site.processes)
				if err != nil {
					return err
				}
				m, err := op.run(l, ctx)
				if err != nil {
					return fmt.Errorf("%s: %w", op.name, err)
				}
				after, err := cpuOf(site.processes)
				if err != nil {
					return err
				}
				m.System, m.Round, m.Op, m.Depth = s.name, round, op.name, depth
				m.CPU = float64(after-before) / float64(time.Microsecond) / float64(max(1, m.Operations))
				fmt.Fprintf(os.Stderr, "  %s, depth %d: %.0f/s, p99 %s, %.1f µs of CPU each\n", m.Op, m.Depth, m.Throughput, inUnits(m.P99), m.CPU)
				all = append(all, m)
			}
		}
		return nil
	})
	return all, err
}

// each has all connections do pipelines of commands, which are those of a connection's number and a count.
func (l *messageLoad) each(ctx context.Context, begins string, words func(conn, n int) []string) (measure, error) {
	all, closeAll, err := talkers(ctx, l.address, l.connections)
	if err != nil {
		return measure{}, err
	}
	defer closeAll()
	var exchanges []exchange
	for i, t := range all {
		n := 0
		exchanges = append(exchanges, t.pipeline(l.depth, begins, func() []string {
			n++
			return words(i, n)
		}))
	}
	return repeat(ctx, l.duration, exchanges)
}

// key returns one of as many keys as the plan has.
func (l *messageLoad) key(conn, n int) string {
	return l.name + strconv.Itoa((conn*7919+n*104729)%l.keys)
}

func (l *messageLoad) set(ctx context.Context) (measure, error) {
	return l.each(ctx, "+OK", func(conn, n int) []string { return []string{"SET", l.key(conn, n), l.value} })
}

func (l *messageLoad) xAdd(ctx context.Context) (measure, error) {
	return l.each(ctx, "$", func(conn, n int) []string { return []string{"XADD", l.key(conn, n), "*", "field", l.value} })
}

func (l *messageLoad) xAddOne(ctx context.Context) (measure, error) {
	return l.each(ctx, "$", func(int, int) []string { return []string{"XADD", l.name, "*", "field", l.value} })
}

// publish publishes on one channel, which one client subscribes to.
func (l *messageLoad) publish(ctx context.Context) (m measure, err error) {
	subscriber, err := talk(ctx, l.address)
	if err != nil {
		return m, err
	}
	if err := subscriber.one("SUBSCRIBE", l.name); err != nil {
		return m, err
	}
	var heard atomic.Int64
	var hearing sync.WaitGroup
	hearing.Go(func() {
		_ = subscriber.conn.SetDeadline(time.Time{}) // messages come until it is closed
		for {
			if _, err := subscriber.take(); err != nil {
				return
			}
			heard.Add(1)
		}
	})
	m, err = l.each(ctx, ":1", func(int, int) []string { return []string{"PUBLISH", l.name, l.value} })
	for deadline := time.Now().Add(talkPatience); heard.Load() < m.Operations && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond) // the last ones are on their way
	}
	_ = subscriber.conn.Close() // what was heard is known
	hearing.Wait()
	if m.Missing = m.Operations - heard.Load(); err == nil && m.Missing != 0 {
		err = fmt.Errorf("%d messages were published, and %d heard", m.Operations, heard.Load())
	}
	return m, err
}

// handOver has one client of each pair wait for what the other one puts into a list.
func (l *messageLoad) handOver(ctx context.Context) (measure, error) {
	all, closeAll, err := talkers(ctx, l.address, l.connections/2*2)
	if err != nil {
		return measure{}, err
	}
	defer closeAll()
	var exchanges []exchange
	for i := 0; i+1 < len(all); i += 2 {
		worker, producer, list := all[i], all[i+1], l.name+strconv.Itoa(i)
		exchanges = append(exchanges, func() (int64, error) {
			worker.add("BLPOP", list, "0")
			if err := worker.send(); err != nil {
				return 0, err
			}
			if err := producer.one("LPUSH", list, l.value); err != nil {
				return 0, err
			}
			_, err := worker.take()
			return 1, err
		})
	}
	return repeat(ctx, l.duration, exchanges)
}

// fillStream fills a stream that a group is to read.
func (l *messageLoad) fillStream(ctx context.Context) error {
	filler, err := talk(ctx, l.address)
	if err != nil {
		return err
	}
	defer filler.conn.Close()
	if err := filler.one("XGROUP", "CREATE", l.name, "group", "0", "MKSTREAM"); err != nil {
		return err
	}
	fill := filler.pipeline(fillDepth, "$", func() []string { return []string{"XADD", l.name, "*", "field", l.value} })
	for range min(mostEntries, int(l.duration.Seconds()*mostReads)) / fillDepth {
		if _, err := fill(); err != nil {
			return err
		}
	}
	return nil
}

// How many entries a stream is filled with, for each second in which it is read, and at most; and how many at once.
const (
	mostReads   = 150_000
	mostEntries = 400_000
	fillDepth   = 500
)

// xReadGroup has all connections read from a stream as consumers of a group, until the time is up or nothing is left.
func (l *messageLoad) xReadGroup(ctx context.Context) (m measure, err error) {
	return l.each(ctx, "*1", func(conn, _ int) []string {
		return []string{"XREADGROUP", "GROUP", "group", strconv.Itoa(conn), "COUNT", "1", "STREAMS", l.name, ">"}
	})
}
