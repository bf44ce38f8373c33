package bench

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// sensible are options that have no faults.
func sensible() Options {
	return Options{
		Addresses: []string{"127.0.0.1:6379"}, Connections: 4, Depth: 3, KeySize: 16, ValueSize: 64, Keys: 1000,
		Workload: Simple, Distribution: Uniform, Duration: time.Second, Trials: 1,
		Commands: []string{"set", "get"}, Fields: 10, FieldSize: 8,
	}
}

func TestFaults(t *testing.T) {
	o := sensible()
	require.Empty(t, o.Faults())
	for _, tc := range []struct {
		spoil func(*Options)
		want  Fault
	}{
		{func(o *Options) { o.Addresses = nil }, Fault{"addr", "give at least one host:port"}},
		{func(o *Options) { o.Addresses = []string{"x"} }, Fault{"addr", `"x" is not host:port`}},
		{func(o *Options) { o.Addresses = []string{"a:1", "b:1", "c:1", "d:1", "e:1"} }, Fault{"connections", "4 connections are too few for 5 addresses"}},
		{func(o *Options) { o.Connections = 0 }, Fault{"connections", "0 is not from 1 to 50000"}},
		{func(o *Options) { o.Depth = -1 }, Fault{"depth", "-1 is not from 1 to 10000"}},
		{func(o *Options) { o.Duration = 0 }, Fault{"duration", "0s is less than 100ms"}},
		{func(o *Options) { o.SetFraction = math.NaN() }, Fault{"set-fraction", "NaN is not from 0 to 1"}},
		{func(o *Options) { o.Workload = "x" }, Fault{"workload", `"x" is none of simple, mixed, batch, load`}},
		{func(o *Options) { o.Workload = "mixd" }, Fault{"workload", `"mixd" is none of simple, mixed, batch, load; did you mean mixed?`}},
		{func(o *Options) { o.Commands = []string{"HGET", "hgetal"} }, Fault{"commands", `"hgetal" is none of set, get, hset, hget, hgetall, hincrby, hdel, rpush, lpush, lpop, sadd, sismember, zadd, zscore, zrange, exec, mset, evalsha; did you mean hgetall?`}},
		{func(o *Options) { o.Commands = nil }, Fault{"commands", "there are none"}},
		{func(o *Options) { o.Commands = []string{"get", "hset"} }, Fault{"commands", "a key cannot hold a string for GET and a hash for HSET: measure one after the other"}},
		{func(o *Options) { o.Workload, o.Commands = Mixed, []string{"hget", "hdel"} }, Fault{"commands", "mixed cannot know what is there for HDEL: simple does"}},
		{func(o *Options) { o.Workload, o.Commands, o.SetFraction = Mixed, []string{"hget"}, 0.1 }, Fault{"commands", "none of them writes: give one that does, or --set-fraction 0"}},
		{func(o *Options) { o.Workload, o.Commands = Mixed, []string{"hset"} }, Fault{"commands", "none of them reads: give one that does, or --set-fraction 1"}},
		{func(o *Options) { o.Workload, o.Commands = Batch, []string{"hincrby", "hget"} }, Fault{"commands", "batch wants one that writes a value and one that reads it, such as hset,hget"}},
		{func(o *Options) { o.Fields = 0 }, Fault{"fields", "0 is not from 1 to 100000000"}},
		{func(o *Options) { o.FieldSize, o.Fields, o.Commands = 3, 101, []string{"hget"} }, Fault{"field-size", "3 bytes are too few for 101 fields: a letter and 3 digits take 4"}},
		{func(o *Options) { o.FieldSize, o.Depth, o.Commands = 5, 5000, []string{"hget"} }, Fault{"field-size", "5 bytes are too few for 20000 fields: a letter and 5 digits take 6"}},
		{func(o *Options) { o.Workload, o.Commands, o.Fields, o.Depth = Load, []string{"hset"}, 10_000, 300 }, Fault{"depth", "a pipeline of 300 commands would have 74 MiB, more than 64"}},
		{func(o *Options) { o.Distribution = "x" }, Fault{"distribution", `"x" is none of uniform, zipf, exponential`}},
		{func(o *Options) { o.Cluster, o.Commands = true, []string{"mset"} }, Fault{"cluster", "what writes several keys of one slot cannot be divided by slots: leave it out, or measure other --commands"}},
		{func(o *Options) { o.Prefixes = []string{"a", "b"} }, Fault{"prefix", "2 prefixes do not fit 1 addresses: give one for all, or one for each"}},
		{func(o *Options) { o.KeySize, o.Prefixes = 5, []string{"abc"} }, Fault{"key-size", `5 bytes are too few for 1000 keys: "abc" and 3 digits take 6`}},
		{func(o *Options) { o.Depth, o.ValueSize = 2, 60<<20 }, Fault{"depth", "a pipeline of 2 commands would have 120 MiB, more than 64"}},
		{func(o *Options) { o.Connections, o.ValueSize = 100, 20<<20 }, Fault{"connections", "the pipelines of 100 connections would take 6000 MiB of memory, more than 1024"}},
	} {
		o := sensible()
		tc.spoil(&o)
		require.Equal(t, []Fault{tc.want}, o.Faults())
	}
}
