package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/quolldb/quoll/internal/admin"
	"github.com/quolldb/quoll/internal/config"
	"github.com/quolldb/quoll/node"
	"github.com/quolldb/quoll/ring"
)

func (a *app) devCommand() *cobra.Command {
	cfg, form := config.DefaultDev(), asTable
	command := &cobra.Command{
		Use:   "dev",
		Short: "Run a whole cluster in one process, to try things out",
		Long: `Dev runs three nodes and a proxy in one process, with nothing to set up. They talk inside of
it, without sockets, and keep the data in memory: it is gone when dev ends,
unless --engine badger --data DIR (or pebble) keeps it in that directory for the next time.

It prints where to connect and what to type next. Ctrl-C stops it in order, a second
Ctrl-C at once.
` + settingsHelp,
		Example: `  quoll dev
  redis-cli -p 6379 set greeting hello       # in another terminal

  quoll dev --listen 127.0.0.1:7777          # if 6379 is taken
  quoll dev --engine badger --data ~/quoll   # what is written is kept
  quoll dev --nodes 5 --replicas 3
  quoll dev --nodes 1 --replicas 1           # nothing replicated, least memory`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := config.Load(&cfg, cmd.Flags(), a.environ); err != nil {
				return err
			}
			log, end := newLogger(a.stderr, cfg.LogLevel, "text")
			defer end()
			logStart(log, "dev", &cfg)
			return a.dev(cmd.Context(), cfg, log, a.stdout, form)
		},
	}
	command.Flags().SortFlags = false
	cfg.Bind(command.Flags())
	bindForm(command, &form)
	return command
}

// runDev runs nodes and a proxy until ctx is done. It prints to out where to connect,
// what is running and, for people, what to type next.
func runDev(ctx context.Context, cfg config.Dev, log *slog.Logger, out io.Writer, form form) (err error) {
	secure, err := secureDev(cfg)
	if err != nil {
		return err
	}
	clients, err := listenClients(cfg.Listen, cfg.TLSListen) // first, for it is what may be taken
	if err != nil {
		return err
	}
	defer secure.watch(log)()
	failed := newFailures()
	inside := &neighbours{}
	nodes, initial, err := startDevNodes(cfg, inside, failed, log)
	defer func() {
		for _, n := range nodes {
			if closing := n.store.stop(n.Node); err == nil {
				err = closing
			}
		}
	}()
	if err != nil {
		clients.close()
		return err
	}
	pc := cfg.Proxy()
	pc.ClusterName = devCluster
	for _, m := range initial {
		pc.Nodes = append(pc.Nodes, m.Peer)
	}
	p, err := startProxy(clients, secure, pc, surroundings{dial: inside.dial, keptFiles: keptFiles}, failed, log.With("component", "proxy"))
	if err != nil {
		return err
	}
	defer stop(p.close)
	named := make(map[string]*node.Node, len(nodes))
	for i, n := range nodes {
		named[initial[i].Name] = n.Node
	}
	api, err := admin.Listen(cfg.Admin, admin.NewHandler(nodes[0], serveMetrics(log, secure, p, named), admin.Access{Secret: cfg.Secret.Reveal(), Log: log}), log)
	if err != nil {
		return err
	}
	switch err := awaitReady(ctx, p.coordinator); {
	case ctx.Err() != nil: // told to stop before there was anything to say
		return nil
	case err != nil:
		return err
	}
	if form == asJSON {
		err = printJSON(out, devReport{clients.addr().String(), clients.secureAddr(), api.Addr(), len(initial), cfg.Replicas, cfg.Engine, cfg.Data})
		if err != nil {
			return err
		}
	} else {
		printWelcome(out, clients.addr(), api.Addr(), cfg, initial)
		if clients.secure != nil {
			fmt.Fprintf(out, "With TLS they connect to %s.\n", clients.secureAddr())
		}
	}
	return serveAdmin(ctx, api, keeping{cfg.Memory, gcNode, true, cfg.Engine == config.Memory}, failed)
}

// devReport is what runs, as JSON. It is printed once all is ready.
type devReport struct {
	Clients  string `json:"clients"`
	TLS      string `json:"clients_tls,omitempty"`
	Admin    string `json:"admin"`
	Nodes    int    `json:"nodes"`
	Replicas int    `json:"replicas"`
	Engine   string `json:"engine"`
	Data     string `json:"data,omitempty"`
}

const devCluster = "dev"

// devNode is one of the nodes, and what it keeps its records in.
type devNode struct {
	*node.Node
	store *store
}

// startDevNodes starts the nodes. Those that it started are returned even with an
// error.
func startDevNodes(cfg config.Dev, inside *neighbours, failed failures, log *slog.Logger) ([]devNode, ring.Initial, error) {
	if err := checkDevData(cfg); err != nil {
		return nil, nil, err
	}
	var initial ring.Initial
	var listeners []net.Listener
	for i := range cfg.Nodes {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			for _, l := range listeners {
				l.Close()
			}
			return nil, nil, err
		}
		listeners = append(listeners, inside.join(listener, listener.Addr().String()))
		initial = append(initial, ring.InitialMember{Name: devName(i, cfg.Nodes), Peer: listener.Addr().String()})
	}
	var nodes []devNode
	for i, m := range initial {
		n, err := startDevNode(cfg, m.Name, initial, listeners[i], inside.dial, failed, log)
		if err != nil {
			for _, l := range listeners[i:] {
				l.Close()
			}
			return nodes, nil, err
		}
		nodes = append(nodes, n)
	}
	return nodes, initial, nil
}

func startDevNode(cfg config.Dev, name string, initial ring.Initial, listener net.Listener, dial peerDialer, failed failures, log *slog.Logger) (devNode, error) {
	s, err := openDevStore(cfg, name, log)
	if err != nil {
		return devNode{}, err
	}
	n, err := s.start(node.Options{
		Name: name, ClusterName: devCluster, Initial: initial, Replicas: cfg.Replicas, Weight: 1, Listener: listener, Dial: dial,
		GossipListen: "127.0.0.1:0", OperationTimeout: cfg.OperationTimeout, SlowTimeout: cfg.SlowTimeout, ScriptTime: cfg.LuaTimeLimit,
		Failed: failed.tell, MaxValue: int(cfg.MaxBulk), MaxCollection: int(cfg.MaxCollection), MaxPending: int64(cfg.MaxPending()), DataMemory: int64(cfg.DataMemory()), Version: thisBuild().Version, Logger: s.log,
	})
	return devNode{n, s}, err
}

// awaitReady waits until the cluster has formed and the proxy knows it.
func awaitReady(ctx context.Context, backend admin.Backend) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for {
		err := backend.Ready(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the cluster did not form: %w", err)
		case <-ticker.C:
		}
	}
}

func printWelcome(out io.Writer, client net.Addr, adminAddr string, cfg config.Dev, initial ring.Initial) {
	host, port, _ := net.SplitHostPort(client.String())
	auth := ""
	if cfg.Password.Reveal() != "" {
		auth = " -a PASSWORD"
	}
	where, end := "in memory", "The data is gone when this ends: Ctrl-C."
	if cfg.Engine != config.Memory {
		where = fmt.Sprintf("in %s (fsync %s)", cfg.Data, cfg.Fsync)
		end = "The data is kept when this ends: Ctrl-C. It is there again with the same --engine and --data."
	}
	fmt.Fprintf(out, `Quoll runs: %d nodes, every key on %d of them, %s. Redis clients connect to %s.

  redis-cli -h %s -p %s%s set greeting hello
  redis-cli -h %s -p %s%s get greeting
  %s ring status --admin %s
  %s ring locate greeting --admin %s

%s
`, len(initial), cfg.Replicas, where, client, host, port, auth, host, port, auth, self(), adminAddr, self(), adminAddr, end)
}

// self is what to type to run this program again.
func self() string {
	path := os.Args[0]
	if strings.Contains(path, "go-build") { // of go run
		return "go run ./cmd/quoll"
	}
	if _, err := exec.LookPath(filepath.Base(path)); err == nil {
		return filepath.Base(path)
	}
	return path
}
