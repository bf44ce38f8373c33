package world

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/quolldb/quoll/proxy"
	"github.com/quolldb/quoll/proxy/front"
	"github.com/quolldb/quoll/proxy/route"
	"github.com/quolldb/quoll/proxy/session"
)

// proxyHost is a host with a proxy.
type proxyHost struct {
	world       *World
	name        string
	host        *host
	coordinator *route.Coordinator // nil while it does not run
	server      *proxy.Server
	served      chan error
}

// start starts the proxy, if it does not run.
func (p *proxyHost) start() error {
	if p.coordinator != nil {
		return nil
	}
	p.host.revive()
	listener, err := p.host.listen(clientPort)
	if err != nil {
		return err
	}
	w := p.world
	p.coordinator = route.New(route.Config{Name: p.name, ClusterName: clusterName, Seeds: w.addresses(), Dial: p.host.Dial, Initial: w.initial.String(),
		Random: sharedRandom(w.cfg.Seed, p.name), OperationTimeout: time.Second, Version: "world", Logger: w.logger(p.name)})
	p.server = proxy.NewServer(proxy.ServerConfig{
		Clients:  front.Config{Logger: w.logger(p.name)},
		Sessions: session.Config{Version: "world", Logger: w.logger(p.name)},
	}, p.coordinator)
	p.served = make(chan error, 1)
	go func(s *proxy.Server, served chan<- error) { served <- s.Serve(listener) }(p.server, p.served)
	w.note("%s runs", p.name)
	return nil
}

// stop ends the proxy in order, if it runs.
func (p *proxyHost) stop() error {
	if p.coordinator == nil {
		return nil
	}
	p.world.note("%s is stopped", p.name)
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	err := p.close(ctx)
	p.host.die(killed)
	return err
}

// crash ends it in the middle of whatever it does.
func (p *proxyHost) crash() {
	if p.coordinator == nil {
		return
	}
	p.world.note("%s is killed", p.name)
	p.host.die(killed)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_ = p.close(ctx) // its patience has ended
}

func (p *proxyHost) close(ctx context.Context) error {
	err := p.server.Shutdown(ctx)
	if ending := <-p.served; !errors.Is(ending, proxy.ErrServerClosed) {
		err = errors.Join(err, ending)
	}
	p.coordinator.Close()
	p.coordinator = nil
	if err != nil {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	return nil
}
