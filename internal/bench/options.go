package bench

import (
	"fmt"
	"math"
	"net"
	"strconv"
	"strings"
	"time"
)

// The workloads.
const (
	// Load writes every key once, in order.
	Load = "load"
	// Simple writes, then reads.
	Simple = "simple"
	// Mixed writes and reads at the same time.
	Mixed = "mixed"
	// Batch writes a pipeline of keys, then reads the same keys with the next pipeline, on every connection.
	Batch = "batch"
)

// Options say what to do.
type Options struct {
	// Addresses are host:port of the servers; connections take them in turns.
	Addresses []string
	// Prefixes begin the keys: one for all addresses (may be empty, see [keyspace]) or one for each.
	Prefixes []string
	Password string

	Connections int
	// Depth is the number of commands in a pipeline.
	Depth int
	// KeySize and ValueSize are lengths in bytes; Keys is how many different keys there are for each prefix.
	KeySize, ValueSize, Keys int

	Workload     string
	Distribution string
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
		fault(option, "%q is none of %s", value, strings.Join(names, ", "))
	}
	oneOf("workload", o.Workload, Simple, Mixed, Batch, Load)
	oneOf("distribution", o.Distribution, Uniform, Zipf, Exponential)
	if len(faults) == 0 {
		faults = o.together()
	}
	return faults
}

// together returns what is wrong with options that are right one by one.
func (o *Options) together() (faults []Fault) {
	if n := len(o.Prefixes); n > 1 && n != len(o.Addresses) {
		faults = append(faults, Fault{"prefix", fmt.Sprintf("%d prefixes do not fit %d addresses: give one for all, or one for each", n, len(o.Addresses))})
	}
	for i := range max(1, len(o.Prefixes)) {
		digits := len(strconv.Itoa(o.Keys - 1))
		if prefix := o.prefix(i); len(prefix)+digits > o.KeySize {
			faults = append(faults, Fault{"key-size", fmt.Sprintf("%d bytes are too few for %d keys: %q and %d digits take %d",
				o.KeySize, o.Keys, prefix, digits, len(prefix)+digits)})
		}
	}
	pipeline := o.Depth * (o.KeySize + o.ValueSize)
	switch {
	case pipeline > maxPipeline:
		faults = append(faults, Fault{"depth", fmt.Sprintf("a pipeline of %d commands would have %d MiB, more than %d", o.Depth, pipeline>>20, maxPipeline>>20)})
	case o.Connections*pipeline > maxBuffers:
		faults = append(faults, Fault{"connections", fmt.Sprintf("the pipelines of %d connections would take %d MiB of memory, more than %d",
			o.Connections, o.Connections*pipeline>>20, maxBuffers>>20)})
	}
	return faults
}

// prefix is that of the keys at an address.
func (o *Options) prefix(address int) string {
	switch len(o.Prefixes) {
	case 0:
		return ""
	case 1:
		return o.Prefixes[0]
	}
	return o.Prefixes[address]
}
