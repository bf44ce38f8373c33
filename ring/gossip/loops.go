package gossip

import (
	"context"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/hashicorp/memberlist"
)

// every runs the round at once and then at the interval, until the loops are
// cancelled. A round that takes longer delays the next one.
func (g *Gossip) every(interval time.Duration, round func()) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for g.ctx.Err() == nil {
		round()
		select {
		case <-ticker.C:
		case <-g.ctx.Done():
		}
	}
}

// rejoinLoop calls known members that are not alive, for as long as it takes. It
// takes two rounds to end a partition: in the first each side hears that it is
// taken for dead and objects, in the second it hears the other's objection.
func (g *Gossip) rejoinLoop() {
	resolved := make(map[string]string) // known address -> IP address and port
	g.every(g.cfg.RejoinInterval, func() {
		// Calls to a machine that is gone wait for the connect time-out.
		limit := make(chan struct{}, 16)
		var calls sync.WaitGroup
		for address := range g.missing(resolved) {
			limit <- struct{}{}
			calls.Go(func() {
				_, _ = g.list.Join([]string{address}) // memberlist logs why it failed
				<-limit
			})
		}
		calls.Wait()
	})
}

// missing returns the addresses to call: those of dead members, and known ones at
// which nobody is alive.
func (g *Gossip) missing(resolved map[string]string) map[string]bool {
	alive, missing := g.peers.addresses()
	for _, known := range g.known() {
		if alive[resolved[known]] {
			continue // no need to resolve the name anew
		}
		ctx, cancel := context.WithTimeout(g.ctx, g.cfg.RejoinInterval)
		ip, port, err := resolve(ctx, known)
		cancel()
		if err != nil {
			g.cfg.Logger.Debug("gossip: known member has no usable address", "address", known, "error", err)
			continue
		}
		resolved[known] = net.JoinHostPort(ip, strconv.Itoa(port))
		missing[resolved[known]] = true
	}
	for address := range alive {
		delete(missing, address)
	}
	return missing
}

func (g *Gossip) known() []string {
	if g.cfg.Known == nil {
		return nil
	}
	return g.cfg.Known()
}

// metaInterval is how often others are told of new metadata at most.
const metaInterval = 500 * time.Millisecond

// metaLoop tells the others what this member's metadata are, when they have changed.
func (g *Gossip) metaLoop() {
	for {
		select {
		case <-g.ctx.Done():
			return
		case <-g.news:
		}
		if err := g.list.UpdateNode(metaInterval); err != nil {
			g.cfg.Logger.Debug("gossip: others may not know yet what this member says of itself", "error", err)
		}
		select {
		case <-g.ctx.Done():
			return
		case <-time.After(metaInterval):
		}
	}
}

// pingLoop finds out who is suspect: memberlist does not tell.
func (g *Gossip) pingLoop() {
	g.every(g.probeInterval, func() {
		var pings sync.WaitGroup
		for _, node := range g.peers.others(g.cfg.Name) {
			pings.Go(func() {
				answered := g.ping(node) || g.ping(node) // one packet may be lost
				if g.ctx.Err() == nil {
					g.peers.pinged(node.Name, answered)
				}
			})
		}
		pings.Wait()
	})
}

func (g *Gossip) ping(node memberlist.Node) bool {
	if g.ctx.Err() != nil {
		return false
	}
	_, err := g.list.Ping(node.Name, &net.UDPAddr{IP: node.Addr, Port: int(node.Port)})
	return err == nil
}
