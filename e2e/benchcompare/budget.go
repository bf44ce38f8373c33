package main

import (
	"context"
	"errors"
	"fmt"
	"os"
)

// With -budget it is asked where the CPU time of a SET and a GET goes. While clients write, and then read, the proxy and the nodes are profiled by their own profilers, which
// charge system calls to whoever makes them; stages.go says which function is of which stage. The profiles give the shares, /proc the CPU time that is shared out.

// budget is what an operation at a depth costs.
type budget struct {
	figure
	// Redis is the CPU time of a redis-server for each operation, in microseconds, as all that follows.
	Redis float64 `json:"redis"`
	// Others is the share of the machine that other programs had meanwhile.
	Others float64 `json:"others_share_of_cores"`
	Proxy  side    `json:"proxy"`
	Nodes  side    `json:"nodes"`
}

// budgetAll measures each operation at each depth.
func (p *plan) budgetAll(ctx context.Context) (all []budget, err error) {
	err = p.both(ctx, func(quoll, redis *running) error {
		for _, depth := range p.depths {
			for _, op := range []string{"SET", "GET"} {
				fmt.Fprintf(os.Stderr, "%s at depth %d\n", op, depth)
				m, err := redis.measure(ctx, redis.to, op, depth)
				if err != nil {
					return err
				}
				b := budget{figure: figure{op, depth}, Redis: m.CPU}
				if _, err := quoll.shareOut(ctx, &b); err != nil {
					return err
				}
				all = append(all, b)
			}
		}
		return nil
	})
	return all, err
}

// shareOut measures Quoll's part of a budget, and returns the measurement.
func (r *running) shareOut(ctx context.Context, b *budget) (measure, error) {
	sides := []struct {
		*side
		processes []*process
		admins    []string
	}{{&b.Nodes, r.holders(), r.to.admins[:len(r.holders())]}, {&b.Proxy, r.processes[len(r.holders()):], r.to.admins[len(r.holders()):]}}
	var before, after [2]usage
	for i, s := range sides {
		var err error
		if before[i], err = usageOf(s.processes); err != nil {
			return measure{}, err
		}
	}
	profiles := r.profileAll(ctx, r.to.admins)
	m, err := r.measure(ctx, r.to, b.Op, b.Depth)
	if err != nil {
		return m, errors.Join(err, errors.Join(profiles().failed...))
	}
	b.Others = m.Others
	for i, s := range sides {
		if after[i], err = usageOf(s.processes); err != nil {
			return m, err
		}
	}
	collected := profiles()
	if err := errors.Join(collected.failed...); err != nil {
		return m, err
	}
	for i, s := range sides {
		if *s.side, err = after[i].since(before[i], m.Operations); err != nil {
			return m, err
		}
		if s.Stages, err = shares(ctx, collected.of(s.admins)); err != nil {
			return m, err
		}
		for stage := range s.Stages {
			s.Stages[stage] *= s.CPU
		}
	}
	return m, nil
}
