package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/quolldb/quoll/internal/config"
	"github.com/quolldb/quoll/internal/database"
	"github.com/quolldb/quoll/internal/verify"
)

// verifyOptions are the flags of `verify`.
type verifyOptions struct {
	verify.Options
	servers config.Verified
	queue   bool
	churn   churnOptions
	form    form
}

const aboutVerify = `Verify writes, reads and counts through one or more addresses of a cluster, or of any server that speaks Redis'
protocol, strings, fields of hashes, and elements of lists, sets and sorted sets, checks every answer, and says what was wrong. Kill machines meanwhile: that is what
it is for. It goes on through errors and lost connections, and at the end waits up to 30 seconds until everything can be read back.

  lost     an acknowledged write is not there, nor a newer one, whichever address is asked
  stale    a read returned a value older than one that was acknowledged, or read by anybody, before the read began
  wrong    a value that nobody wrote, or whose write was refused; a counter beyond what was sent or below what was
           acknowledged; a HGETALL or HMGET that mixes two versions of a hash; an element that LPOP, SPOP or ZPOPMIN handed
           out twice or that vanished; any other history of SET, GET, INCR, SETNX and DEL of a key, of fields of a hash, or
           of the elements of a list, set or sorted set, that is not linearizable
  unknown  a write whose outcome the server did not say: -UNKNOWN, a time-out, a connection lost meanwhile. No fault by itself
  refused  an error said that nothing was done, there was no connection, or a read was not answered. No fault by itself

With --transfers clients also move amounts between accounts, and tokens between keys, in groups of keys of one slot: by MULTI and EXEC, by WATCH, by
EVAL, and by RENAME, SMOVE and LMOVE. Others read all of a group, by MGET and by MULTI and EXEC: the total is always the same, each token is there once, the numbers of the transfers
explain every balance (wrong otherwise), and what was acknowledged is there (lost or stale otherwise).

With --queue clients do something else instead: they produce and consume, in queues of three kinds: RPUSH and BLPOP or BLMPOP; RPUSH, BLMOVE to a list of the worker, and LREM when it is dealt with;
XADD, XREADGROUP and XACK. Now and then a worker is lost with what it has, which others bring back by LMOVE, or claim by XAUTOCLAIM. --keys is the number of queues of each kind then.

  lost     an element that was acknowledged was not handed out, or its worker was lost, and it is not there; a pop of unknown outcome
           excuses one
  stale    a command was answered that there is nothing, and there was
  wrong    an element was handed out twice, other than to a worker after it was brought back or claimed; nobody pushed it, or its push was
           refused; or one that was pushed later was handed out earlier

With --may-evict, for servers that evict keys (maxmemory-policy), any key may be gone at any moment. All else is as wrong as ever: an older value (lost or stale), one that comes back after nothing
was found there, a hash, list, set or sorted set of which a part is gone. Of counters only what is too much is seen.

A key (or the history of one, a group, or an element) is counted once as lost, stale or wrong, and not used any more. All keys begin with
quoll-verify:RUN: and are removed at the end; no others are touched.

Exit codes: 0 nothing was lost, stale or wrong; 1 something was; 2 it could not begin: wrong usage, or an address that does not
answer or take writes; 3 nothing was, but some keys could not be read back at the end,
or the ring did not come to rest in ten minutes (--churn).`

func (a *app) verifyCommand() *cobra.Command {
	opt := verifyOptions{servers: config.DefaultVerified()}
	command := &cobra.Command{
		Use:   "verify",
		Short: "Check a running cluster or server: is anything lost, stale or wrong?",
		Long:  aboutVerify,
		Example: `  quoll verify                                                  # for a minute, at 127.0.0.1:6379
  quoll verify --addr 10.0.0.1:6379,10.0.0.2:6379 --for 10m     # through two proxies, while you break things
  quoll verify --password-file /etc/quoll/password --json
  quoll verify --transfers                                      # are transactions what they should be?
  quoll verify --queue --addr 10.0.0.1:6379,10.0.0.2:6379       # is each element of a queue handed out once?
  quoll verify --may-evict                                      # of a cache
  quoll verify --churn 10.0.0.1:7100,10.0.0.2:7100              # while nodes come and go`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if opt.queue && !cmd.Flags().Changed("keys") {
				opt.Keys = queuesOfAKind
			}
			if err := opt.complete(config.Load(&opt.servers, cmd.Flags(), a.environ)); err != nil {
				return err
			}
			return a.verifyServers(cmd.Context(), opt)
		},
	}
	flags := command.Flags()
	flags.SortFlags = false
	opt.servers.Bind(flags)
	flags.DurationVar(&opt.For, "for", time.Minute, "`time` for which clients work")
	flags.IntVar(&opt.Clients, "clients", 8, "`number` of clients that work at the same time, 1 to 1000")
	flags.IntVar(&opt.Keys, "keys", 64, "`number` of keys, fields and hashes that are written in turns, 1 to 100000; with --queue of queues of each kind, 1 to 1000, 2 without it")
	flags.IntVar(&opt.Database, "database", 0, "`number` of the database to work in")
	flags.BoolVar(&opt.Transfers, "transfers", false, "also move amounts between accounts by MULTI, WATCH, EVAL, RENAME, SMOVE and LMOVE, while their total is read")
	flags.BoolVar(&opt.queue, "queue", false, "produce and consume instead: are elements of lists and streams handed out once, and in order?")
	flags.IntSliceVar(&opt.churn.replicas, "churn-replicas", nil, "`numbers` of replicas that --churn tries, as in 3,5; the number stays as it is without it")
	flags.Uint64Var(&opt.churn.seed, "churn-seed", 0, "`number` that decides what --churn does; another one each time without it")
	flags.BoolVar(&opt.MayEvict, "may-evict", false, "keys may be evicted (maxmemory-policy): any may be gone at any moment, and all else still holds")
	flags.BoolVar(&opt.Keep, "keep", false, "leave the keys there, to look at them")
	bindForm(command, &opt.form)
	return command
}

// What --keys means with --queue: so many queues of each kind.
const (
	queuesOfAKind = 2
	mostQueues    = 1000
)

// complete checks the flags. Wrong is what is wrong with the servers.
func (o *verifyOptions) complete(wrong error) error {
	var faults config.Faults
	errors.As(wrong, &faults)
	o.Addresses, o.Password = o.servers.Addr, o.servers.Password.Reveal()
	fault := func(field, format string, args ...any) {
		faults = append(faults, config.Fault{Field: field, Reason: fmt.Sprintf(format, args...)})
	}
	if o.For < time.Second {
		fault("for", "%s is less than 1s", o.For)
	}
	if o.Clients < 1 || o.Clients > 1000 {
		fault("clients", "%d is not from 1 to 1000", o.Clients)
	}
	if o.Database < 0 || o.Database >= database.Count {
		fault("database", "%d is not from 0 to %d", o.Database, database.Count-1)
	}
	if o.Keys < 1 || o.Keys > 100_000 {
		fault("keys", "%d is not from 1 to 100000", o.Keys)
	}
	if o.queue {
		o.Queues = o.Keys
		if o.Keys > mostQueues {
			fault("keys", "%d is not from 1 to %d, with --queue", o.Keys, mostQueues)
		}
		if o.Transfers {
			fault("transfers", "not together with --queue: run them one beside the other")
		}
	}
	if o.MayEvict && (o.Transfers || o.queue) {
		fault("may-evict", "goes neither with --transfers nor with --queue: of accounts or elements that were evicted nothing is known")
	}
	if len(faults) > 0 {
		return faults
	}
	return nil
}

// verifyServers runs the checker and prints what it found.
func (a *app) verifyServers(ctx context.Context, opt verifyOptions) error {
	dial, err := serverDialer(opt.servers.ServerTLS, "")
	if err != nil {
		return err
	}
	opt.Dial = dial
	p := startProgress(a.stderr, "Verifying", false)
	p.set(verifyState{Progress: verify.Progress{Phase: "connecting"}})
	opt.Progress = func(now verify.Progress) { p.set(verifyState{now}) }
	resting := a.churning(ctx, opt.servers, opt.churn, opt.For)
	report, err := verify.Run(ctx, opt.Options)
	all := verifyReport{report, resting()}
	p.stop()
	if err != nil {
		return config.Faults{{Field: "addr", Reason: explainServer(err)}}
	}
	if err := a.printReport(all, opt.form); err != nil {
		return err
	}
	switch {
	case report.Violated():
		return errViolated
	case report.Unread > 0 || all.Churn != nil && all.Churn.Stuck != "":
		return errUnhealthy{}
	}
	return nil
}

func (a *app) printReport(report verifyReport, form form) error {
	if form == asJSON {
		return printJSON(a.stdout, report)
	}
	if err := writeReport(a.stdout, report.Report); err != nil {
		return err
	}
	if report.Churn != nil {
		writeChurn(a.stdout, report.Churn)
	}
	return nil
}

// verifyState is how far a verification is.
type verifyState struct{ verify.Progress }

// done is the share of the time that was asked for. What comes after it, reading back, takes as long as it takes.
func (s verifyState) done(time.Duration) (share float64, took time.Duration) {
	return s.Elapsed.Seconds() / max(s.For, time.Second).Seconds(), s.Elapsed
}

func (s verifyState) text(time.Duration) string { return s.String() }
