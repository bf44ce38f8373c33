package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/quolldb/quoll/internal/bench"
	"github.com/quolldb/quoll/internal/config"
)

// benchOptions are the flags of `bench`.
type benchOptions struct {
	bench.Options
	servers                       config.Servers
	keySize, fieldSize, valueSize config.Size
	form                          form
}

const aboutBench = `Bench loads a cluster, or any server that speaks Redis' protocol, with SET and GET (or other --commands) as fast as it answers, and
prints throughput and latency. Each connection sends a pipeline of --depth commands, waits until all are answered, and sends the next one; a
latency is the time from sending a pipeline to the answer of the command in it.

  simple   all connections send one command, then all the next one: a phase of --duration (or --count commands) each
  mixed    all commands at the same time, a share of --set-fraction of them writes
  batch    every connection writes a pipeline, then reads the same keys back with the next one
  load     every key is written once, in order

The commands are set and get, or those on keys of one other type, which hold --fields fields or elements: hset, hget and hincrby (of one field),
hgetall, hdel; rpush, lpush, lpop; sadd (half of the members are new at first), sismember; zadd (another score), zscore, zrange (of ten ranks). Or
they are exec and mset: three keys of one slot are written, by MULTI, three SETs and EXEC, which count as one command, or by one MSET; or evalsha,
of a script that reads a key and writes it. For
hdel and lpop every connection adds a pipeline of fields or elements, and removes as many with the next one, so half of that phase is shown as
"HSET new", or LPUSH. Fields and members are chosen uniformly. For one large hash: --keys 1 --fields 1000000.

Before simple and mixed all keys are written once, which is not measured (--no-load leaves it out). Keys are numbered: zipf takes the n-th one
with a probability proportional to n^-1.1; exponential has a density that falls by e^3.5 from the first key to the last. A value is a
function of the numbers of its key and field and of --value-size, so --check can compare every answer: missing ones found nothing (HGETALL: not
all; HSET and HDEL: not the field that they change; LPOP: no element), wrong ones something else.

With --wait N every pipeline that has a write ends with WAIT N 1000 (for Redis with replicas; at --depth 1 that is after every write): its writes
count as answered when WAIT is, and as errors if fewer replicas have acknowledged.

The keys remain: about --keys keys, named key:000000000042 (hash:00000000042 and so on) unless --prefix says otherwise, are overwritten on the server.

Exit codes: 0 it ran, or was interrupted while it did, and every answer was as it should be; 1 answers were errors, or missing or wrong with --check, or
the server went away or hung (what was measured until then is printed); 2 wrong usage, or there is no such server at an address.`

func (a *app) benchCommand() *cobra.Command {
	opt := benchOptions{servers: config.DefaultServers()}
	command := &cobra.Command{
		Use:   "bench",
		Short: "Measure throughput and latency of a cluster or server",
		Long:  aboutBench,
		Example: `  quoll bench                                                   # 50 connections write for 10 s, then read, at 127.0.0.1:6379
  quoll bench --depth 16 --trials 3 --workload mixed --set-fraction 0.1 --distribution zipf
  quoll bench --commands hset,hget,hgetall --keys 10000 --fields 50
  quoll bench --addr 10.0.0.1:6379,10.0.0.2:6379 --check -o csv`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := opt.complete(config.Load(&opt.servers, cmd.Flags(), a.environ), cmd.Flags().Changed("count"), cmd.Flags().Changed("duration")); err != nil {
				return err
			}
			return a.benchServers(cmd.Context(), opt)
		},
	}
	flags := command.Flags()
	flags.SortFlags = false
	opt.servers.Bind(flags)
	flags.StringVar(&opt.Workload, "workload", bench.Simple, "`what` to do: simple, mixed, batch or load")
	flags.StringSliceVar(&opt.Commands, "commands", []string{"set", "get"}, "`names` of what is measured: set, get; or hset, hget, hgetall, hincrby, hdel; or rpush, lpush, lpop; or sadd, sismember; or zadd, zscore, zrange; or exec, mset; or evalsha, of a script that reads a key and writes it")
	flags.DurationVar(&opt.Duration, "duration", 10*time.Second, "`time` that a phase of a trial takes")
	flags.IntVar(&opt.Count, "count", 0, "`number` of commands in a phase, instead of a duration")
	flags.IntVar(&opt.Trials, "trials", 1, "`number` of trials; of more than one the median and quartiles are shown")
	flags.IntVar(&opt.Connections, "connections", 50, "`number` of connections")
	flags.IntVar(&opt.Depth, "depth", 1, "`number` of commands in a pipeline")
	opt.keySize, opt.fieldSize, opt.valueSize = 16, 8, 64
	flags.Var(&opt.keySize, "key-size", "`size` of a key")
	flags.Var(&opt.valueSize, "value-size", "`size` of a value, such as 64, 1KiB or 4mb")
	flags.IntVar(&opt.Keys, "keys", 100_000, "`number` of different keys")
	flags.IntVar(&opt.Fields, "fields", 10, "`number` of fields of a hash, or elements of a list or a set")
	flags.Var(&opt.fieldSize, "field-size", "`size` of a field's name, or of a member of a set")
	flags.StringSliceVar(&opt.Prefixes, "prefix", nil, "`text` that keys begin with; or one for each address, separated by commas")
	flags.BoolVar(&opt.Cluster, "cluster", false, "the servers are nodes of a Redis Cluster: ask the first for the others, and send each key to the master of its slot")
	flags.BoolVar(&opt.ReadOnly, "readonly", false, "say READONLY: what is read may be old (of Quoll with --cluster-enabled, or of a Redis Cluster)")
	flags.StringVar(&opt.Distribution, "distribution", bench.Uniform, "`how` keys are chosen: uniform, zipf or exponential")
	flags.Float64Var(&opt.SetFraction, "set-fraction", 0.5, "`share` of writes in mixed, 0 to 1")
	flags.BoolVar(&opt.NoLoad, "no-load", false, "do not write all keys before simple and mixed: they are there")
	flags.IntVar(&opt.Wait, "wait", 0, "`number` of replicas that WAIT waits for after every pipeline with a write")
	flags.BoolVar(&opt.Check, "check", false, "compare every value with what must be there")
	bindForm(command, &opt.form, asCSV)
	return command
}

// complete checks the flags. Wrong is what is wrong with the servers.
func (o *benchOptions) complete(wrong error, count, duration bool) error {
	var faults config.Faults
	errors.As(wrong, &faults)
	o.Addresses, o.Password = o.servers.Addr, o.servers.Password.Reveal()
	o.KeySize, o.FieldSize, o.ValueSize = int(o.keySize), int(o.fieldSize), int(o.valueSize)
	for _, fault := range o.Faults() {
		if fault.Option != "addr" { // checked already
			faults = append(faults, config.Fault{Field: fault.Option, Reason: fault.Reason})
		}
	}
	switch {
	case count && duration:
		faults = append(faults, config.Fault{Field: "count", Reason: "give either a count or a duration"})
	case count && o.Count == 0:
		faults = append(faults, config.Fault{Field: "count", Reason: "0 commands are nothing to measure"})
	}
	if len(faults) > 0 {
		return faults
	}
	return nil
}

// benchServers measures, and prints what was measured even if that ended early.
func (a *app) benchServers(ctx context.Context, opt benchOptions) error {
	dial, err := serverDialer(opt.servers.ServerTLS, "")
	if err != nil {
		return err
	}
	opt.Dial = dial
	p := startProgress(a.stderr, "Bench:", false)
	p.set(benchState{bench.Progress{Phase: "connecting"}})
	opt.Progress = func(now bench.Progress) { p.set(benchState{now}) }
	defer startSharing(ctx)()
	b, err := bench.Open(ctx, opt.Options)
	if err != nil {
		p.stop()
		if ctx.Err() != nil {
			return errInterruptedEarly
		}
		return config.Faults{{Field: "addr", Reason: explainServer(err)}}
	}
	defer b.Close()
	report, err := b.Run(ctx)
	p.stop()
	if printed := a.printBench(report, opt.form); printed != nil {
		return printed
	}
	if err != nil {
		return err
	}
	return verdictOfBench(report)
}

// benchState is how far a run is.
type benchState struct{ bench.Progress }

func (s benchState) done(time.Duration) (share float64, took time.Duration) {
	return s.Share, s.Elapsed // of this phase
}

func (s benchState) text(time.Duration) string {
	where := s.Phase
	if s.Trial > 0 && s.Trials > 1 {
		where = fmt.Sprintf("trial %d of %d, %s", s.Trial, s.Trials, s.Phase)
	}
	if s.Elapsed == 0 {
		return where
	}
	return fmt.Sprintf("%s: %d operations, %.0f/s", where, s.Operations, float64(s.Operations)/s.Elapsed.Seconds())
}
