package main

import (
	"context"
	"os/exec"
	"strings"
)

// system is one of those that are compared.
type system struct {
	name, title string
	label       string   // in plots
	programs    []string // that must be installed
	versionArgs []string // of the first of them
	setsOnly    bool
	start       func(ctx context.Context, s *site) (target, error)
	version     string
}

// target is how a system that runs is reached.
type target struct {
	addresses []string
	// args are more arguments of quoll bench.
	args []string
	// copies is how many of each key its servers hold, 0 for one.
	copies int
	// metrics are the pages on which servers in Go tell what they spend.
	metrics []string
	// admins are the admin addresses of Quoll's processes, in their order.
	admins []string
}

const (
	quollName = "quoll"
	nodesName = "nodes"
	redisName = "redis"
)

// systems are all that can be compared, in the order in which they are shown. None of them writes to a disk.
var systems = []system{
	{
		name: quollName, title: "Quoll: three nodes and a proxy, majorities for writes and reads",
		label:       "Quoll: 3 copies, majorities",
		versionArgs: []string{"version"}, start: startQuoll,
	},
	{
		name: redisName, title: "one redis-server, nothing replicated",
		label:    "one redis-server",
		programs: []string{"redis-server"}, versionArgs: []string{"--version"}, start: startRedis,
	},
	{
		name: "wait", title: "redis-server with two replicas; each pipeline ends with WAIT 1 1000 (at depth 1: every write)", setsOnly: true,
		label:    "redis-server, 2 replicas, WAIT 1",
		programs: []string{"redis-server"}, versionArgs: []string{"--version"}, start: startReplicated,
	},
	{
		name: "nutcracker", title: "nutcracker (twemproxy) before three redis-servers, nothing replicated",
		label:    "nutcracker, 3 redis-servers",
		programs: []string{"nutcracker", "redis-server"}, versionArgs: []string{"--version"}, start: startNutcracker,
	},
	{
		name: nodesName, title: "Quoll: three nodes that serve clients, each command sent to the home of its slot; a third of the connections for each",
		label:       "Quoll, without a proxy",
		versionArgs: []string{"version"}, start: startNodes,
	},
	{
		name: "cluster", title: "Redis Cluster of three primaries with a replica each, which they do not wait for, each command sent to the primary of its slot; a third of the connections for each",
		label:    "Redis Cluster, 3 + 3",
		programs: []string{"redis-server"}, versionArgs: []string{"--version"}, start: startRedisCluster,
	},
}

// missing returns the first program that is not installed.
func (s *system) missing() string {
	for _, program := range s.programs {
		if _, err := exec.LookPath(program); err != nil {
			return program
		}
	}
	return ""
}

// versionOf returns the first line of what the program says of itself.
func (s *system) versionOf(ctx context.Context, p *plan) string {
	program := p.quoll
	if len(s.programs) > 0 {
		program = s.programs[0]
	}
	out, _ := exec.CommandContext(ctx, program, s.versionArgs...).CombinedOutput() // what it says is all that is wanted
	line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	return strings.TrimPrefix(line, "This is ") // nutcracker's
}
