package main

import (
	"context"
	"net/http"
	"strings"
	"time"
)

// startQuoll starts three nodes with the memory engine and a proxy.
func startQuoll(ctx context.Context, s *site) (target, error) {
	free, err := ports(11)
	if err != nil {
		return target{}, err
	}
	env := s.environment()
	peers, gossip, admins, client, proxyAdmin := free[0:3], free[3:6], free[6:9], free[9], free[10]
	initial := "a=" + peers[0] + ",b=" + peers[1] + ",c=" + peers[2]
	for i, name := range []string{"a", "b", "c"} {
		if err := s.start("node-"+name, env, s.quoll, "node", "--name", name, "--peer", peers[i], "--gossip", gossip[i], "--admin", admins[i],
			"--initial-cluster", initial, "--engine", "memory"); err != nil {
			return target{}, err
		}
	}
	if err := s.start("proxy", env, s.quoll, "proxy", "--listen", client, "--admin", proxyAdmin, "--nodes", strings.Join(peers, ",")); err != nil {
		return target{}, err
	}
	web := &http.Client{Timeout: time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	return target{addresses: []string{client}}, s.await(ctx, "Quoll's cluster", func() bool {
		for _, admin := range append([]string{proxyAdmin}, admins...) {
			response, err := web.Get("http://" + admin + "/readyz")
			if err != nil || response.Body.Close() != nil || response.StatusCode != http.StatusOK {
				return false
			}
		}
		return true
	})
}
