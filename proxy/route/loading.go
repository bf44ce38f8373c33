package route

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"
)

// loadingPatience is how long a proxy that knows the ring waits for the nodes. Then it is the slots that have a majority, or have
// none.
const loadingPatience = 3 * time.Second

// Loading implements Cluster: the ring is known, and a majority of each slot's replicas answers.
func (c *Coordinator) Loading() error {
	if c.loaded.Load() {
		return nil
	}
	view := c.ring.Load()
	if view == nil {
		return fmt.Errorf("%w (%s)", ErrNotReady, missing(*c.seeds.Load()))
	}
	if time.Since(view.known) < loadingPatience && !view.complete() {
		return fmt.Errorf("%w (%s)", ErrNotReady, missing(view.nodes))
	}
	c.loaded.Store(true)
	return nil
}

// complete reports whether a majority of the replicas of every slot answers.
func (v *ringView) complete() bool {
	down := func(l *nodeLink) bool { return !l.up.Load() }
	if !slices.ContainsFunc(v.nodes, down) {
		return true
	}
	for slot := range v.homes {
		if v.table.Spare(uint16(slot), func(id uint16) bool { return !down(v.node(id)) }) < 0 {
			return false
		}
	}
	return true
}

// mostNamed is how many nodes are named that are waited for.
const mostNamed = 5

// missing says which nodes do not answer, and why.
func missing(links []*nodeLink) string {
	var list []string
	for _, l := range links {
		if l.up.Load() {
			continue
		}
		why := "it does not answer yet"
		if err := l.link.Err(); err != nil {
			why = brief(err)
		}
		list = append(list, l.address+": "+why)
	}
	if len(list) > mostNamed {
		list = append(list[:mostNamed], fmt.Sprintf("and %d more", len(list)-mostNamed))
	}
	return strings.Join(list, "; ")
}

// brief returns what went wrong in one line; of what the network says not where.
func brief(err error) string {
	if network := (*net.OpError)(nil); errors.As(err, &network) {
		err = network.Err
		for next := errors.Unwrap(err); next != nil; next = errors.Unwrap(next) {
			err = next
		}
	}
	text, _, _ := strings.Cut(err.Error(), "\n")
	return strings.TrimPrefix(strings.TrimPrefix(text, "wire: "), "proxy: ")
}

// A proxy says what it waits for after tellAfter, when it waits for others than before, and each tellInterval.
const (
	tellAfter    = 5 * time.Second
	tellInterval = time.Minute
)

// tellWaiting says what this proxy waits for, until the cluster is there or ctx ends.
func (c *Coordinator) tellWaiting(ctx context.Context) {
	ticker := time.NewTicker(tellAfter)
	defer ticker.Stop()
	var told time.Time
	of := ""
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		err := c.Loading()
		if err == nil {
			return
		}
		if said := err.Error(); said != of || time.Since(told) >= tellInterval {
			told, of = time.Now(), said
			c.log.Warn("clients are told to wait (-LOADING): this proxy has not found the cluster yet", "reason", said)
		}
	}
}
