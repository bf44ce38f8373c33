package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/quolldb/quoll/internal/admin"
	"github.com/quolldb/quoll/internal/config"
	"github.com/quolldb/quoll/node"
	"github.com/quolldb/quoll/node/membership"
	"github.com/quolldb/quoll/ring"
)

func (a *app) nodeCommand() *cobra.Command {
	cfg := config.DefaultNode()
	command := &cobra.Command{
		Use:   "node",
		Short: "Run a node: one of the processes that hold the data",
		Long: `Node runs one node of a cluster. All nodes that form it are started with the same
--initial-cluster, which names every one of them, and each with its own --name. One that comes
later is started with --join instead, and waits until quoll ring plan join and commit make it a
member. Clients talk to a proxy (see quoll proxy), or to nodes that serve them.

With --engine memory, the default, a node that ends has lost its data; the others have it. With
--engine badger --data DIR it keeps the data in that directory, and comes back with it
after a restart. The directory belongs to one node of one cluster.

With --listen the node serves Redis clients itself, as a proxy does, without one on the way to what it
holds; with --cluster-enabled clients of a Redis Cluster send each command to the home of its slot, and with
--replica-listen, too, they may read from its replicas.

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
    --initial-cluster a=10.0.0.1:7000,b=10.0.0.2:7000,c=10.0.0.3:7000

  # a fourth one, which joins them
  quoll node --name d --peer :7000 --advertise-peer 10.0.0.4:7000 --rack r4 \
    --secret-file /etc/quoll/secret --engine badger --data /var/lib/quoll --join 10.0.0.1:7000`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := config.Load(&cfg, cmd.Flags(), a.environ); err != nil {
				return err
			}
			log, end := newLogger(a.stderr, cfg.LogLevel, cfg.LogFormat)
			defer end()
			logStart(log, "node", &cfg)
			return a.node(cmd.Context(), cfg, log)
		},
	}
	command.Flags().SortFlags = false
	cfg.Bind(command.Flags())
	command.AddCommand(a.backupCommand(), a.restoreCommand(), a.leaveCommand())
	return command
}

// stopTimeout bounds how long stopping in order may take.
const stopTimeout = 5 * time.Second

// runNode runs a node and its admin API until ctx is done. When the node gives up its ring (node.Options.Reform), it begins
// again on an empty store.
func runNode(ctx context.Context, cfg config.Node, log *slog.Logger) error {
	var forgotten membership.Forgotten
	for {
		again, err := runNodeLife(ctx, &cfg, forgotten, log)
		if err != nil || again == nil || ctx.Err() != nil {
			return err
		}
		forgotten = *again
	}
}

// runNodeLife runs a node until ctx is done, or it has given up its ring: then it returns what the next life has to know. It
// notes in cfg the admin port that it was given.
func runNodeLife(ctx context.Context, cfg *config.Node, forgotten membership.Forgotten, log *slog.Logger) (again *membership.Forgotten, err error) {
	var initial ring.Initial
	if len(cfg.Join) == 0 {
		if initial, err = ring.ParseInitial(cfg.InitialCluster); err != nil {
			return nil, err
		}
	}
	access, err := adminAccess(cfg.Secret, cfg.AdminTokensFile, log)
	if err != nil {
		return nil, err
	}
	secure, err := secureNode(cfg)
	if err != nil {
		return nil, err
	}
	s, err := openStore(*cfg, log)
	if err != nil {
		return nil, err
	}
	clients, err := listenNodeClients(cfg)
	if err != nil {
		return nil, s.release(err)
	}
	listener, err := net.Listen("tcp", cfg.Peer)
	if err != nil {
		clients.close()
		return nil, s.release(err)
	}
	inside := &neighbours{}
	joined := inside.join(listener, cfg.AdvertisePeer)
	ctx, end := context.WithCancel(ctx)
	defer end()
	reform, failed := make(chan membership.Forgotten, 1), newFailures()
	n, err := s.start(node.Options{
		Name: cfg.Name, ClusterName: cfg.ClusterName, Initial: initial, Join: cfg.Join, AutoJoin: cfg.AutoJoin, Peer: cfg.AdvertisePeer, Replicas: cfg.Replicas, Rack: cfg.Rack, Weight: cfg.Weight,
		Listener: joined, Dial: inside.dial, Clients: announced(cfg), ReplicaClients: announcedReplica(cfg), GossipListen: cfg.Gossip, GossipAdvertise: cfg.AdvertiseGossip, Forgotten: forgotten,
		Reform: func(f membership.Forgotten) { reform <- f; end() }, Failed: failed.tell,
		Secret: []byte(cfg.Secret.Reveal()), TLS: secure.peers, GossipKeys: secure.gossip.Keys(), Certificate: secure.certificate(), OperationTimeout: cfg.OperationTimeout, SlowTimeout: cfg.SlowTimeout, ScriptTime: cfg.LuaTimeLimit, MaxConnections: fitFiles("max-connections", cfg.MaxConnections, s.keptFiles(), openFiles(), s.log),
		MaxValue: int(cfg.MaxBulk), MaxCollection: int(cfg.MaxCollection), MaxPending: int64(cfg.MaxPending), DataMemory: int64(cfg.DataMemory()), RepairRate: repairRate(*cfg), Version: thisBuild().Version, Logger: s.log,
	})
	if err != nil {
		joined.Close()
		clients.close()
		return nil, err
	}
	defer func() {
		if closing := s.stop(n); err == nil {
			err = closing
		}
	}()
	secure.gossip.OnChange(func(keys [][]byte) {
		if err := n.SetGossipKeys(keys); err != nil {
			s.log.Error("the keys of gossip could not be changed", "err", err)
		}
	})
	defer secure.watch(s.log)()
	p, err := serveNodeClients(cfg, clients, secure, inside.dial, failed, s, log)
	if err != nil {
		return nil, err
	}
	if p != nil {
		defer stop(p.close)
	}
	api, err := admin.ListenTLS(cfg.Admin, secure.admin, admin.NewHandler(servingNode{n, p}, serveMetrics(log, secure, p, map[string]*node.Node{cfg.Name: n}), access), log)
	if err != nil {
		return nil, err
	}
	cfg.Admin = api.Addr()
	log.Info("the node runs", "component", "node", "node", cfg.Name, "peer", n.Address(), "admin", api.Addr(), "clients", clients.String())
	err = serveAdmin(ctx, api, keeping{cfg.Memory, gcNode, true, cfg.Engine == config.Memory}, failed)
	select {
	case f := <-reform:
		return &f, err
	default:
	}
	if slots, together := n.LastCopies(); slots > 0 {
		level := slog.LevelError
		if together { // most probably all are stopped on purpose
			level = slog.LevelWarn
		}
		s.log.Log(ctx, level, "this node ends, and with it the last copies: its data is in memory, and of these slots no majority is left, for good; their keys are refused with CLUSTERDOWN. "+
			"What other nodes still hold can be saved: quoll node backup. Then let all nodes form an empty cluster: quoll ring reform", "slots", slots, "keys", n.Self().Keys)
	}
	return nil, err
}

// repairRate is what the node calls the rate: zero is its default, less is none.
func repairRate(cfg config.Node) int64 {
	if cfg.RepairRate == 0 {
		return -1
	}
	return int64(cfg.RepairRate)
}

// failures gets why a part of this process has ended that it cannot do without. The first one counts.
type failures chan error

func newFailures() failures { return make(failures, 1) }

// tell does not block.
func (f failures) tell(err error) {
	select {
	case f <- err:
	default:
	}
}

// asFault says an error about a setting as any other wrong usage is said.
func asFault(err error) error {
	var wrong *membership.ConfigError
	if errors.As(err, &wrong) {
		return config.Faults{{Field: wrong.Field, Reason: wrong.Reason}}
	}
	return err
}

// serveAdmin serves the admin API, and keeps the process within its bounds, until ctx
// is done, or something has failed: that is the error it returns.
func serveAdmin(ctx context.Context, api *admin.Server, bound keeping, parts failures) error {
	var keepers sync.WaitGroup
	defer keepers.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	keepers.Go(func() { boundHeap(ctx, bound) })
	if bound.hugePages {
		keepers.Go(func() { keepHugePages(ctx) })
	}
	keepers.Go(func() { giveBack(ctx) })
	if bound.sharesCores {
		keepers.Go(func() { shareCores(ctx) })
	}
	served := make(chan error, 1)
	go func() { served <- api.Serve() }()
	var err error
	select {
	case err := <-served:
		return fmt.Errorf("the admin API on %s has ended, start this process again: %w", api.Addr(), err)
	case err = <-parts:
	case <-ctx.Done():
	}
	stop(api.Shutdown)
	return errors.Join(asFault(err), <-served)
}

// stop stops a part in order, within stopTimeout.
func stop(shutdown func(context.Context) error) {
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	if err := shutdown(ctx); err != nil {
		slog.Debug("stopping", "err", err)
	}
}
