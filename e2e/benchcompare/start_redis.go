package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// redisServer starts a redis-server that saves nothing, and waits until it answers.
func (s *site) redisServer(ctx context.Context, address string, args ...string) error {
	name := "redis-" + portOf(address)
	dir := filepath.Join(s.dir, name)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	args = append([]string{"--port", portOf(address), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", dir}, args...)
	if err := s.start(name, nil, "redis-server", args...); err != nil {
		return err
	}
	return s.await(ctx, name, func() bool { return pong(address) })
}

// pong reports whether a server answers PING. (A client library says more than that, and nutcracker closes the connection.)
func pong(address string) bool {
	conn, err := net.DialTimeout("tcp", address, time.Second)
	if err != nil {
		return false
	}
	defer conn.Close()
	const ping, want = "*1\r\n$4\r\nPING\r\n", "+PONG\r\n"
	answer := make([]byte, len(want))
	_ = conn.SetDeadline(time.Now().Add(time.Second)) // what follows tells
	_, err = io.WriteString(conn, ping)
	if err == nil {
		_, err = io.ReadFull(conn, answer)
	}
	return err == nil && string(answer) == want
}

// ask gives commands to a redis-server.
func ask(ctx context.Context, address string, do func(*redis.Client) error) error {
	client := redis.NewClient(&redis.Options{Addr: address, MaxRetries: -1, DisableIdentity: true})
	defer client.Close()
	return do(client)
}

// appendOnly is a redis-server's engine on disk: its log, written as durably as Quoll's nodes write.
const appendOnly = "append-only file"

func startRedis(ctx context.Context, s *site) (target, error) {
	free, err := ports(1)
	if err != nil {
		return target{}, err
	}
	var args []string
	if s.engine == appendOnly {
		args = []string{"--appendonly", "yes", "--appendfsync", "always"}
	}
	return target{addresses: free}, s.redisServer(ctx, free[0], args...)
}

// startReplicated starts a primary, and two replicas of it, and waits until they are in sync.
func startReplicated(ctx context.Context, s *site) (target, error) {
	free, err := ports(3)
	if err != nil {
		return target{}, err
	}
	primary := free[0]
	if err := s.redisServer(ctx, primary, "--repl-diskless-sync-delay", "0"); err != nil {
		return target{}, err
	}
	for _, replica := range free[1:] {
		if err := s.redisServer(ctx, replica, "--replicaof", "127.0.0.1 "+portOf(primary)); err != nil {
			return target{}, err
		}
	}
	return target{addresses: []string{primary}, args: []string{"--wait", "1"}}, s.await(ctx, "replicas", func() bool {
		var info string
		err := ask(ctx, primary, func(c *redis.Client) (err error) {
			info, err = c.Info(ctx, "replication").Result()
			return err
		})
		return err == nil && strings.Count(info, "state=online") == len(free)-1
	})
}

// startNutcracker starts three redis-servers and a proxy that spreads keys over them.
func startNutcracker(ctx context.Context, s *site) (target, error) {
	free, err := ports(5)
	if err != nil {
		return target{}, err
	}
	client, stats := free[3], free[4]
	text := "quoll:\n  listen: " + client + "\n  hash: fnv1a_64\n  distribution: ketama\n  redis: true\n  servers:\n"
	for i, address := range free[:3] {
		if err := s.redisServer(ctx, address); err != nil {
			return target{}, err
		}
		text += fmt.Sprintf("   - %s:1 s%d\n", address, i)
	}
	conf := filepath.Join(s.dir, "nutcracker.yml")
	if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
		return target{}, err
	}
	if err := s.start("nutcracker", nil, "nutcracker", "-c", conf, "-a", "127.0.0.1", "-s", portOf(stats), "-o", filepath.Join(s.dir, "nutcracker.out"),
		"-p", filepath.Join(s.dir, "nutcracker.pid")); err != nil {
		return target{}, err
	}
	return target{addresses: []string{client}}, s.await(ctx, "nutcracker", func() bool { return pong(client) })
}

// thirds are the slots of the three primaries of a Redis Cluster.
var thirds = [][2]int{{0, 5460}, {5461, 10922}, {10923, 16383}}

// startRedisCluster starts three primaries, each with a replica.
func startRedisCluster(ctx context.Context, s *site) (target, error) {
	free, err := ports(4 * len(thirds))
	if err != nil {
		return target{}, err
	}
	addresses, buses := free[:2*len(thirds)], free[2*len(thirds):]
	for i, address := range addresses {
		if err := s.redisServer(ctx, address, "--repl-diskless-sync-delay", "0", "--cluster-enabled", "yes", "--cluster-port", portOf(buses[i])); err != nil {
			return target{}, err
		}
		err := ask(ctx, address, func(c *redis.Client) error {
			for j := range i {
				if err := c.Do(ctx, "CLUSTER", "MEET", "127.0.0.1", portOf(addresses[j]), portOf(buses[j])).Err(); err != nil {
					return err
				}
			}
			if i >= len(thirds) {
				return nil
			}
			return c.ClusterAddSlotsRange(ctx, thirds[i][0], thirds[i][1]).Err()
		})
		if err != nil {
			return target{}, err
		}
	}
	primaries := addresses[:len(thirds)]
	for i, replica := range addresses[len(thirds):] {
		if err := s.await(ctx, "a replica", func() bool { return replicate(ctx, replica, primaries[i]) == nil }); err != nil {
			return target{}, err
		}
	}
	return target{addresses: addresses[:1], copies: 2, args: []string{"--cluster"}}, s.await(ctx, "Redis Cluster", func() bool {
		return !slices.ContainsFunc(primaries, func(address string) bool { return !replicated(ctx, address) })
	})
}

// replicate makes a server of a Redis Cluster the replica of another one, which it has to know already.
func replicate(ctx context.Context, replica, primary string) error {
	var id string
	err := ask(ctx, primary, func(c *redis.Client) (err error) {
		id, err = c.ClusterMyID(ctx).Result()
		return err
	})
	if err != nil {
		return err
	}
	return ask(ctx, replica, func(c *redis.Client) error { return c.ClusterReplicate(ctx, id).Err() })
}

// replicated reports whether a primary of a Redis Cluster serves all slots with the others, and has its replica.
func replicated(ctx context.Context, primary string) bool {
	var cluster, replication string
	err := ask(ctx, primary, func(c *redis.Client) (err error) {
		if cluster, err = c.ClusterInfo(ctx).Result(); err != nil {
			return err
		}
		replication, err = c.Info(ctx, "replication").Result()
		return err
	})
	return err == nil && strings.Contains(cluster, "cluster_state:ok") && strings.Contains(replication, "state=online")
}
