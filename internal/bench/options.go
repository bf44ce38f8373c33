package bench

import (
	"context"
	"fmt"
	"math"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/quolldb/quoll/internal/suggest"
)

// The workloads.
const (
	// Load writes every key once, in order.
	Load = "load"
	// Simple does one command after the other, in a phase each.
	Simple = "simple"
	// Mixed does all commands at the same time.
	Mixed = "mixed"
	// Batch writes a pipeline of keys, then reads the same keys with the next pipeline, on every connection.
	Batch = "batch"
)

// Options say what to do.
type Options struct {
	// Addresses are host:port of the servers; connections take them in turns.
	Addresses []string
	// Cluster: they are nodes of a Redis Cluster, of which the first is asked for the others. Each key is sent to the master of its slot.
	Cluster bool
	shares  []share // of the addresses, with Cluster
	// ReadOnly: each connection says READONLY, so that what it reads may be old.
	ReadOnly bool
	// Prefixes begin the keys: one for all addresses (may be empty, see [keyspace]) or one for each.
	Prefixes []string
	Password string
	// Dial connects to them, as [net.Dialer.DialContext] does. Nil: by TCP.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)

	Connections int
	// Depth is the number of commands in a pipeline.
	Depth int
	// KeySize and ValueSize are lengths in bytes; Keys is how many different keys there are for each prefix.
	KeySize, ValueSize, Keys int

	Workload     string
	Distribution string
	// Commands are the names of those that are measured, in any case, all on what keys of one type hold: SET and GET; HSET, HGET, HGETALL, HINCRBY and
	// HDEL; RPUSH, LPUSH and LPOP; SADD and SISMEMBER; ZADD, ZSCORE and ZRANGE (of ten ranks).
	Commands []string
	// Fields is how many fields a hash has, or elements a list or a set, FieldSize the length of their names. Elements of lists are values.
	Fields, FieldSize int
	// SetFraction is the share of writes in Mixed.
	SetFraction float64
	// NoLoad leaves out that Simple and Mixed write all keys once before they measure.
	NoLoad bool
	// Wait > 0 ends each pipeline that has a SET with "WAIT Wait 1000". Its SETs count as answered when WAIT is, and as errors if fewer replicas
	// than that have acknowledged.
	Wait int

	// A phase of a trial ends after Duration, or after Count commands if that is not 0.
	Duration time.Duration
	Count    int
	Trials   int
	// Check compares every value with what must be there.
	Check bool

	// Progress, if set, is called a few times a second.
	Progress func(Progress)
}

// Limits of what can be asked for.
const (
	maxConnections = 50_000
	maxDepth       = 10_000
	maxSize        = 64 << 20 // of a key or value
	maxFields      = 1e8
	maxPipeline    = 64 << 20 // bytes of a pipeline
	maxBuffers     = 1 << 30  // bytes of the pipelines of all connections
)

// Fault is one thing that is wrong with options.
type Fault struct{ Option, Reason string }

// Faults returns all that is wrong with the options.
func (o *Options) Faults() (faults []Fault) {
	fault := func(option, format string, args ...any) {
		faults = append(faults, Fault{option, fmt.Sprintf(format, args...)})
	}
	within := func(option string, n, low, high int) {
		if n < low || n > high {
			fault(option, "%d is not from %d to %d", n, low, high)
		}
	}
	if len(o.Addresses) == 0 {
		fault("addr", "give at least one host:port")
	}
	for _, address := range o.Addresses {
		if _, port, err := net.SplitHostPort(address); err != nil || port == "" {
			fault("addr", "%q is not host:port", address)
		}
	}
	within("connections", o.Connections, 1, maxConnections)
	if o.Connections > 0 && o.Connections < len(o.Addresses) {
		fault("connections", "%d connections are too few for %d addresses", o.Connections, len(o.Addresses))
	}
	within("depth", o.Depth, 1, maxDepth)
	within("keys", o.Keys, 1, math.MaxInt32)
	within("key-size", o.KeySize, 1, maxSize)
	within("value-size", o.ValueSize, 1, maxSize)
	within("fields", o.Fields, 1, maxFields)
	within("field-size", o.FieldSize, 1, maxSize)
	within("trials", o.Trials, 1, 1000)
	within("wait", o.Wait, 0, 100)
	if o.Duration < 100*time.Millisecond && o.Count == 0 {
		fault("duration", "%s is less than 100ms", o.Duration)
	}
	within("count", o.Count, 0, math.MaxInt32)
	if !(o.SetFraction >= 0 && o.SetFraction <= 1) { // not a number is neither
		fault("set-fraction", "%v is not from 0 to 1", o.SetFraction)
	}
	oneOf := func(option, value string, names ...string) {
		for _, name := range names {
			if name == value {
				return
			}
		}
		fault(option, "%q is none of %s%s", value, strings.Join(names, ", "), suggest.DidYouMean(value, "", names))
	}
	oneOf("workload", o.Workload, Simple, Mixed, Batch, Load)
	oneOf("distribution", o.Distribution, Uniform, Zipf, Exponential)
	for _, name := range o.Commands {
		oneOf("commands", strings.ToLower(name), commandNames()...)
	}
	if len(faults) == 0 {
		faults = o.together()
	}
	return faults
}

// together returns what is wrong with options that are right one by one.
func (o *Options) together() (faults []Fault) {
	fault := func(option, format string, args ...any) {
		faults = append(faults, Fault{option, fmt.Sprintf(format, args...)})
	}
	if o.Cluster && len(o.Prefixes) > 1 {
		fault("prefix", "nodes of a cluster have one: each key is sent to the master of its slot")
	}
	if o.Cluster && o.holds() == aGroup {
		fault("cluster", "what writes several keys of one slot cannot be divided by slots: leave it out, or measure other --commands")
	}
	if n := len(o.Prefixes); n > 1 && n != len(o.Addresses) {
		fault("prefix", "%d prefixes do not fit %d addresses: give one for all, or one for each", n, len(o.Addresses))
	}
	for i := range max(1, len(o.Prefixes)) {
		digits := o.digits()
		if prefix := o.prefix(i); len(prefix)+digits > o.KeySize {
			fault("key-size", "%d bytes are too few for %d keys: %q and %d digits take %d", o.KeySize, o.Keys, prefix, digits, len(prefix)+digits)
		}
	}
	if reason := o.unfitCommands(); reason != "" {
		fault("commands", "%s", reason)
	} else if o.collections() {
		fields := max(o.Fields, o.Connections*o.Depth) // HDEL has one for each command that is under way
		if o.holds() == aSet {
			fields = 2 * o.Fields // see pickField
		}
		if least := 1 + len(strconv.Itoa(fields-1)); o.FieldSize < least {
			fault("field-size", "%d bytes are too few for %d fields: a letter and %d digits take %d", o.FieldSize, fields, least-1, least)
		}
	}
	if len(faults) > 0 {
		return faults
	}
	size := o.KeySize + o.ValueSize
	switch {
	case o.Workload == Load:
		size = o.loadSize()
	case o.collections():
		size += o.FieldSize
	}
	pipeline := o.Depth * size
	switch {
	case pipeline > maxPipeline:
		fault("depth", "a pipeline of %d commands would have %d MiB, more than %d", o.Depth, pipeline>>20, maxPipeline>>20)
	case o.Connections*pipeline > maxBuffers:
		fault("connections", "the pipelines of %d connections would take %d MiB of memory, more than %d", o.Connections, o.Connections*pipeline>>20, maxBuffers>>20)
	}
	return faults
}

// digits is how many digits the numbers of keys have.
func (o *Options) digits() int { return len(strconv.Itoa(o.Keys - 1)) }

// prefix is that of the keys at an address, as it was given.
func (o *Options) prefix(address int) string {
	switch len(o.Prefixes) {
	case 0:
		return ""
	case 1:
		return o.Prefixes[0]
	}
	return o.Prefixes[address]
}

// keyPrefix is what the keys at an address begin with: what was given, or what keeps types apart where there is room for it.
func (o *Options) keyPrefix(address int) string {
	if given := o.prefix(address); given != "" {
		return given
	}
	standard := holdings[o.holds()].prefix
	if o.KeySize < len(standard)+o.digits() {
		return ""
	}
	return standard
}
