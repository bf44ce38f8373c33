package main

import (
	"cmp"
	"context"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// copies is how many of each key Quoll keeps, unless another number is asked for.
const copies = 3

// proxyName is the process that holds no data.
const proxyName = "proxy"

// memoryEngine is the engine unless another one is asked for.
const memoryEngine = "memory"

// onDisk reports whether servers keep what they hold on disk.
func (p *plan) onDisk() bool { return p.engine != "" && p.engine != memoryEngine }

// startQuoll starts nodes and a proxy.
func startQuoll(ctx context.Context, s *site) (target, error) { return startCluster(ctx, s, false) }

// startNodes starts nodes that serve clients of a Redis Cluster.
func startNodes(ctx context.Context, s *site) (target, error) { return startCluster(ctx, s, true) }

func startCluster(ctx context.Context, s *site, serving bool) (target, error) {
	replicas := cmp.Or(s.replicas, copies)
	n := max(replicas, s.nodes)
	free, err := ports(4*n + 2)
	if err != nil {
		return target{}, err
	}
	env := s.environment()
	for name, value := range map[string]string{"QUOLL_MAX_BULK": s.maxBulk, "QUOLL_MAX_COLLECTION": s.maxCollection} {
		if value != "" {
			env = append(env, name+"="+value)
		}
	}
	peers, gossip, admins, clients, proxyAdmin := free[:n], free[n:2*n], free[2*n:3*n], free[3*n:4*n+1], free[4*n+1]
	var initial, metrics []string
	for i := range n {
		initial = append(initial, nodeName(i)+"="+peers[i])
		metrics = append(metrics, "http://"+admins[i]+"/metrics")
	}
	for i := range n {
		args := []string{"node", "--name", nodeName(i), "--peer", peers[i], "--gossip", gossip[i], "--admin", admins[i], "--initial-cluster", strings.Join(initial, ","),
			"--replicas", strconv.Itoa(replicas), "--engine", cmp.Or(s.engine, memoryEngine)}
		if serving {
			args = append(args, "--listen", clients[i], "--cluster-enabled")
		}
		if s.onDisk() {
			args = append(args, "--data", filepath.Join(s.dir, "data-"+nodeName(i)), "--fsync", cmp.Or(s.fsync, "always"))
			if s.cache > 0 {
				args = append(args, "--cache", strconv.Itoa(s.cache))
			}
		}
		if err := s.start("node-"+nodeName(i), env, s.quoll, args...); err != nil {
			return target{}, err
		}
	}
	to := target{addresses: clients[:1], args: []string{"--cluster"}, copies: replicas, metrics: metrics}
	if !serving {
		client := clients[n]
		if err := s.start(proxyName, env, s.quoll, "proxy", "--listen", client, "--admin", proxyAdmin, "--nodes", strings.Join(peers, ",")); err != nil {
			return target{}, err
		}
		to.addresses, to.args = []string{client}, nil
		admins = append(admins, proxyAdmin)
	}
	to.admins = admins
	web := &http.Client{Timeout: time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	return to, s.await(ctx, "Quoll's cluster", func() bool {
		for _, admin := range admins {
			response, err := web.Get("http://" + admin + "/readyz")
			if err != nil || response.Body.Close() != nil || response.StatusCode != http.StatusOK {
				return false
			}
		}
		return true
	})
}

// nodeName is a, b, c and so on.
func nodeName(i int) string { return string(rune('a' + i)) }
