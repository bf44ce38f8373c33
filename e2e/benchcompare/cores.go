package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
)

// With -cores the servers may use one core, then two, four and so on, and the load generator all others, which are as many at least. What a machine has not enough cores for is computed: a proxy
// reads and plans one round of commands at a time, and a node works off each of its connections frame by frame, so one proxy cannot keep any number of cores busy (see busyCores).

// cored is what was measured of a system on some cores, and of Quoll on the most of them where its CPU time goes.
type cored struct {
	Cores int `json:"cores"`
	measure
	Budget *budget `json:"budget,omitempty"`
}

// coreCounts are the numbers of cores for servers on a machine that has so many.
func coreCounts(all int) (counts []int) {
	for n := 1; n <= max(1, all/2); n *= 2 {
		counts = append(counts, n)
	}
	return counts
}

// coresAll measures Quoll and a redis-server on one core after the other.
func (p *plan) coresAll(ctx context.Context) (all []cored, err error) {
	counts := coreCounts(runtime.NumCPU())
	for _, n := range counts {
		changed := *p
		changed.cores = n
		for _, s := range p.systems {
			fmt.Fprintf(os.Stderr, "%d cores: %s\n", n, s.title)
			measured, err := changed.onCores(ctx, s, n == counts[len(counts)-1])
			if all = append(all, measured...); err != nil {
				return all, err
			}
		}
	}
	return all, nil
}

// generatorEnd is one more than the last core of the load generator, 0 if it may use all.
func (p *plan) generatorEnd() int {
	if p.cores == 0 || p.cores >= runtime.NumCPU() {
		return 0
	}
	return runtime.NumCPU()
}

// onCores measures a system on the cores of the plan, and if it is Quoll where its CPU time goes, too.
func (p *plan) onCores(ctx context.Context, s system, budgets bool) (all []cored, err error) {
	err = p.at(ctx, s, func(site *site, to target) error {
		if err := p.load(ctx, s, to, 64); err != nil {
			return err
		}
		r := &running{site, to}
		for _, op := range []string{"SET", "GET"} {
			for _, depth := range p.depths {
				at := cored{Cores: p.cores}
				if budgets && s.name == quollName {
					at.Budget = &budget{figure: figure{op, depth}}
					at.measure, err = r.shareOut(ctx, at.Budget)
				} else {
					at.measure, err = r.measure(ctx, to, op, depth)
				}
				if err != nil {
					return err
				}
				at.System, at.Round = s.name, 1
				fmt.Fprintf(os.Stderr, "  %s, depth %d: %.0f/s, %.1f µs of CPU each\n", op, depth, at.Throughput, at.CPU)
				all = append(all, at)
			}
		}
		return nil
	})
	return all, err
}

// busyCores is how many cores one proxy keeps busy, at least, if nothing is shared but what is said above: the CPU time of a command, by that of it that is spent one command after the other. In the proxy that
// is counted as all of its sockets, parsing and session; on a node as all that it does for a command, whose homes are spread over the nodes.
func (b *budget) busyCores(nodes int) (proxy, node, cores float64) {
	proxy = b.Proxy.Stages["sockets"] + b.Proxy.Stages["parse"] + b.Proxy.Stages["session, commands"]
	node = b.Nodes.CPU / float64(nodes)
	if proxy+node == 0 {
		return 0, 0, 0
	}
	return proxy, node, (b.Proxy.CPU + b.Nodes.CPU) / max(proxy, node)
}
