package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"

	"github.com/spf13/cobra"

	"github.com/quolldb/quoll/internal/admin"
	"github.com/quolldb/quoll/internal/config"
	"github.com/quolldb/quoll/internal/notify"
	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/proxy"
	"github.com/quolldb/quoll/proxy/front"
	"github.com/quolldb/quoll/proxy/route"
	"github.com/quolldb/quoll/proxy/session"
	"github.com/quolldb/quoll/proxy/topology"
	"github.com/quolldb/quoll/ring"
)

func (a *app) proxyCommand() *cobra.Command {
	cfg := config.DefaultProxy()
	command := &cobra.Command{
		Use:   "proxy",
		Short: "Run a proxy: what Redis clients connect to",
		Long: `Proxy speaks Redis' protocol to clients and sends their commands to the nodes that hold
the keys. It holds no data: run as many as you like, behind any load balancer. It is given
the peer addresses of some nodes and learns the rest from them.

A port that other machines can reach needs a password (--password-file), or --insecure in
a network that strangers cannot enter. The nodes' secret, if they have one, is given with
--secret-file.
` + settingsHelp,
		Example: `  quoll proxy --nodes 127.0.0.1:7000,127.0.0.1:7010 --admin 127.0.0.1:7130
  redis-cli -p 6379 ping                     # in another terminal

  quoll proxy --listen none --tls-listen :6380 --certs-dir /etc/quoll/certs \
    --tls-client-auth required --nodes 10.0.0.1:7000 --secret-file /etc/quoll/secret

  quoll proxy --listen :6379 --password-file /etc/quoll/password \
    --nodes 10.0.0.1:7000,10.0.0.2:7000 --secret-file /etc/quoll/secret`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := config.Load(&cfg, cmd.Flags(), a.environ); err != nil {
				return err
			}
			log, end := newLogger(a.stderr, cfg.LogLevel, cfg.LogFormat)
			defer end()
			logStart(log, "proxy", &cfg)
			return a.proxy(cmd.Context(), cfg, config.FileOf(cmd.Flags()), log)
		},
	}
	command.Flags().SortFlags = false
	cfg.Bind(command.Flags())
	return command
}

// runProxy runs a proxy and its admin API until ctx is done. file is where its settings are from, nil for no file.
func runProxy(ctx context.Context, cfg config.Proxy, file *config.File, log *slog.Logger) error {
	access, err := adminAccess(cfg.Secret, cfg.AdminTokensFile, log)
	if err != nil {
		return err
	}
	secure, err := secureProxy(&cfg)
	if err != nil {
		return err
	}
	listeners, err := listenClients(cfg.Listen, cfg.TLSListen)
	if err != nil {
		return err
	}
	failed := newFailures()
	p, err := startProxy(listeners, secure, cfg, surroundings{file: file, keptFiles: keptFiles}, failed, log.With("component", "proxy"))
	if err != nil {
		return err
	}
	defer stop(p.close)
	defer secure.watch(log.With("component", "proxy"))()
	api, err := admin.ListenTLS(cfg.Admin, secure.admin, admin.NewHandler(p.coordinator, serveMetrics(log, secure, p, nil), access), log)
	if err != nil {
		return err
	}
	log.Info("the proxy runs", "component", "proxy", "listen", listeners.addr().String(), "tls-listen", listeners.secureAddr(), "admin", api.Addr())
	return serveAdmin(ctx, api, keeping{cfg.Memory, gcProxy, false, true}, failed)
}

// proxyParts are the two halves of a proxy: sessions with clients, and the way to
// the nodes.
type proxyParts struct {
	coordinator *route.Coordinator
	server      *proxy.Server
	serving     sync.WaitGroup // until the server accepts no more
	watched     func()         // ends what looks after the other proxies, nil if nothing does
}

// surroundings are what else is in the process of a proxy.
type surroundings struct {
	// file is where CONFIG REWRITE writes to, nil for no file.
	file *config.File
	// dial connects with nodes, nil for TCP.
	dial peerDialer
	// keptFiles is how many files are to be left to others.
	keptFiles int
	// node is where clients of a Redis Cluster reach this process, if that is a node to them; empty: it is a proxy.
	node string
	// replica is where they reach its replica port, empty if it has none.
	replica string
	// exposed is, if it is that, the port that other machines can reach: see config.Proxy.Exposed.
	exposed string
	// own is the peer address of that node, or of one that serves clients as a proxy does; empty for none.
	own string
}

// startProxy starts a proxy on listeners, which it closes. When it accepts no more clients, before it is closed, it tells failed.
func startProxy(listeners clientListeners, secure *security, cfg config.Proxy, around surroundings, failed failures, log *slog.Logger) (*proxyParts, error) {
	initial := ""
	if cfg.InitialCluster != "" {
		parsed, err := ring.ParseInitial(cfg.InitialCluster)
		if err != nil {
			listeners.close()
			return nil, err
		}
		initial = parsed.String()
	}
	users, err := openUserFile(cfg.AclFile, cfg.Password.Reveal())
	if exposed := cmp.Or(cfg.Exposed(), around.exposed); err == nil && users != nil && users.Users.Default().Open() && exposed != "" {
		err = fmt.Errorf("other machines can reach %s, and the default user of %s needs no password: give it one there, or give --insecure if the network keeps strangers out", exposed, cfg.AclFile)
	}
	if err != nil {
		listeners.close()
		return nil, err
	}
	coordinator := route.New(route.Config{
		Name: "proxy " + listeners.addr().String(), ClusterName: cfg.ClusterName, Rack: cfg.Rack, Own: around.own, Seeds: cfg.Nodes, Initial: initial,
		Secret: []byte(cfg.Secret.Reveal()), TLS: secure.peers, Dial: around.dial, OperationTimeout: cfg.OperationTimeout, SlowTimeout: cfg.SlowTimeout, Version: thisBuild().Version, Logger: log,
	})
	served := serverConfig(cfg, around, users, log)
	p := &proxyParts{coordinator: coordinator}
	switch {
	case around.node != "":
		nodes := &topology.Nodes{Announce: around.node, AnnounceReplica: around.replica, Placement: coordinator.Placement, Replica: coordinator.Holds}
		served.Sessions.Topology, served.Sessions.ReplicaTopology = nodes, topology.ReplicaPort{Nodes: nodes}
	case cfg.ClusterEnabled:
		served.Sessions.Topology = p.watchProxies(cfg)
	}
	server := proxy.NewServer(served, coordinator)
	p.server = server
	serve := func(listener net.Listener, by func(net.Listener) error) {
		if listener == nil {
			return
		}
		p.serving.Go(func() {
			if err := by(listener); !errors.Is(err, proxy.ErrServerClosed) {
				log.Error("no more clients can be served", "err", err)
				failed.tell(fmt.Errorf("no more clients can be served, start this process again: %w", err))
			}
		})
	}
	serve(listeners.plain, server.Serve)
	serve(listeners.secure, func(l net.Listener) error { return server.ServeTLS(l, secure.clients) })
	serve(listeners.replica, func(l net.Listener) error { return server.ServeReplica(l, nil) })
	serve(listeners.replicaSecure, func(l net.Listener) error { return server.ServeReplica(l, secure.clients) })
	return p, nil
}

// watchProxies looks after the other proxies, for clients of a Redis Cluster, until the proxy is closed.
func (p *proxyParts) watchProxies(cfg config.Proxy) *topology.Proxies {
	t := topology.New(topology.Config{Announce: cfg.ClusterAnnounce, Proxies: cfg.ClusterProxies})
	ctx, cancel := context.WithCancel(context.Background())
	var watching sync.WaitGroup
	watching.Go(func() { t.Watch(ctx) })
	p.watched = func() {
		cancel()
		watching.Wait()
	}
	return t
}

// serverConfig is how clients are treated.
func serverConfig(cfg config.Proxy, around surroundings, users *session.UserFile, log *slog.Logger) proxy.ServerConfig {
	events, _ := notify.Parse(cfg.NotifyKeyspaceEvents) // it is valid
	output, hard := int(cfg.ClientOutputLimit), int64(cfg.ClientOutputLimit)
	if cfg.ClientOutputLimit == 0 {
		output, hard = int(cfg.ClientMemory), -1
	}
	return proxy.ServerConfig{
		Clients: front.Config{
			MaxClients: fitFiles("max-clients", cfg.MaxClients, around.keptFiles, openFiles(), log), ClientMemory: int64(cfg.ClientMemory),
			OutputLimit: front.OutputLimit{Hard: hard, Soft: int64(cfg.ClientOutputSoftLimit), SoftFor: cfg.ClientOutputSoftTime}, IdleTimeout: cfg.IdleTimeout, LoginTimeout: cfg.LoginTimeout, Logger: log,
		},
		Sessions: session.Config{
			Limits:   resp.Limits{MaxBulk: int(cfg.MaxBulk), MaxArgs: cfg.MaxArgs, MaxInline: int(cfg.MaxInline)},
			Password: cfg.Password.Reveal(), OutputLimit: output, Version: thisBuild().Version, Logger: log,
			Events: events, TrackedKeys: cfg.TrackingTableMaxKeys,
			Noted: &session.Noted{
				SlowlogSlowerThan: int64(cfg.SlowlogLogSlowerThan), SlowlogMaxLen: int64(cfg.SlowlogMaxLen), LatencyThreshold: int64(cfg.LatencyMonitorThreshold),
				Untracked: !cfg.LatencyTracking, Percentiles: cfg.Percentiles(),
			},
			Rewrite: rewriter(around.file, log), UserFile: users, CertificateUsers: cfg.TLSAuthClientsUser == config.CommonNameUser,
		},
	}
}

// close stops the proxy in order: first the sessions, which may still need the
// nodes for what they have begun.
func (p *proxyParts) close(ctx context.Context) error {
	err := p.server.Shutdown(ctx)
	p.serving.Wait()
	if p.watched != nil {
		p.watched()
	}
	p.coordinator.Close()
	return err
}
