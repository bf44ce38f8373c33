package main

import (
	"context"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/quolldb/quoll/internal/admin"
	"github.com/quolldb/quoll/internal/config"
	"github.com/quolldb/quoll/node"
	"github.com/quolldb/quoll/ring"
)

func (a *app) nodeCommand() *cobra.Command {
	cfg := config.DefaultNode()
	command := &cobra.Command{
		Use:   "node",
		Short: "Run a node: one of the processes that hold the data",
		Long: `Node runs one node of a cluster. All nodes are started with the same --initial-cluster,
which names every one of them, and each with its own --name. Clients do not talk to nodes
but to a proxy: see quoll proxy.

With --engine memory, the default, a node that ends has lost its data; the others have it. With
--engine badger --data DIR it keeps the data in that directory, and comes back with it
after a restart. The directory belongs to one node of one cluster.

Ports that other machines can reach need a secret that all nodes and proxies share
(--secret-file), or --insecure in a network that strangers cannot enter.
` + settingsHelp,
		Example: `  # three nodes on one machine, each in a terminal of its own
  CLUSTER=a=127.0.0.1:7000,b=127.0.0.1:7010,c=127.0.0.1:7020
  quoll node --name a --peer 127.0.0.1:7000 --admin 127.0.0.1:7100 --initial-cluster $CLUSTER
  quoll node --name b --peer 127.0.0.1:7010 --admin 127.0.0.1:7110 --initial-cluster $CLUSTER
  quoll node --name c --peer 127.0.0.1:7020 --admin 127.0.0.1:7120 --initial-cluster $CLUSTER

  # one of three machines
  quoll node --name a --peer :7000 --rack r1 --secret-file /etc/quoll/secret \
    --engine badger --data /var/lib/quoll \
    --initial-cluster a=10.0.0.1:7000,b=10.0.0.2:7000,c=10.0.0.3:7000`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := config.Load(&cfg, cmd.Flags(), a.environ); err != nil {
				return err
			}
			log := newLogger(a.stderr, cfg.LogLevel, cfg.LogFormat)
			logStart(log, "node", &cfg)
			return a.node(cmd.Context(), cfg, log)
		},
	}
	command.Flags().SortFlags = false
	cfg.Bind(command.Flags())
	command.AddCommand(a.backupCommand(), a.restoreCommand())
	return command
}

// stopTimeout bounds how long stopping in order may take.
const stopTimeout = 5 * time.Second

// runNode runs a node and its admin API until ctx is done.
func runNode(ctx context.Context, cfg config.Node, log *slog.Logger) (err error) {
	initial, err := ring.ParseInitial(cfg.InitialCluster)
	if err != nil {
		return err
	}
	s, err := openStore(cfg, log)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", cfg.Peer)
	if err != nil {
		return s.release(err)
	}
	n, err := s.start(node.Options{
		Name: cfg.Name, ClusterName: cfg.ClusterName, Initial: initial, Replicas: cfg.Replicas, Rack: cfg.Rack, Weight: cfg.Weight,
		Listener: listener, GossipListen: cfg.Gossip, GossipAdvertise: cfg.AdvertiseGossip,
		Secret: []byte(cfg.Secret.Reveal()), OperationTimeout: cfg.OperationTimeout, MaxConnections: cfg.MaxConnections,
		MaxPending: int64(cfg.MaxPending), RepairRate: repairRate(cfg), Version: thisBuild().Version, Logger: s.log,
	})
	if err != nil {
		listener.Close()
		return err
	}
	defer func() {
		if closing := s.stop(n); err == nil {
			err = closing
		}
	}()
	api, err := admin.Listen(cfg.Admin, admin.NewHandler(n, serveMetrics(log, nil, map[string]*node.Node{cfg.Name: n}), cfg.Secret.Reveal()), log)
	if err != nil {
		return err
	}
	log.Info("the node runs", "component", "node", "node", cfg.Name, "peer", n.Address(), "admin", api.Addr())
	return serveAdmin(ctx, api)
}

// repairRate is what the node calls the rate: zero is its default, less is none.
func repairRate(cfg config.Node) int64 {
	if cfg.RepairRate == 0 {
		return -1
	}
	return int64(cfg.RepairRate)
}

// serveAdmin serves the admin API, and keeps the garbage collector's pace and the heap's pages, until ctx
// is done.
func serveAdmin(ctx context.Context, api *admin.Server) error {
	var pace sync.WaitGroup
	defer pace.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	pace.Go(func() { paceGC(ctx) })
	pace.Go(func() { keepHugePages(ctx) })
	failed := make(chan error, 1)
	go func() { failed <- api.Serve() }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	stop(api.Shutdown)
	return <-failed
}

// stop stops a part in order, within stopTimeout.
func stop(shutdown func(context.Context) error) {
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	if err := shutdown(ctx); err != nil {
		slog.Debug("stopping", "err", err)
	}
}
