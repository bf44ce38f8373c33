package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/quolldb/quoll/internal/config"
	"github.com/quolldb/quoll/internal/migrate"
)

const aboutImport = `Import copies the keys of a Redis, or of its file dump.rdb, into a running cluster, through a proxy: strings, lists, sets, sorted
sets and hashes, in all their encodings, with the times at which they expire. It reads with SCAN, DUMP and PTTL, which hold up the Redis for no
longer than a key takes. Clients of both may go on meanwhile; of what they write to the Redis after it was copied the cluster does not know.
To move for good, stop those who write, import with --replace once more, and point them here.

Keys that are there already, with another value or another expiry, are left as they are unless --replace is given. Those that are there with the same ones are
none that are in the way: an import can be repeated.

With --state FILE it keeps in that file how far it is, and goes on from there when it is started again; the file is removed when all is copied.
An import that was interrupted can be started again without, too, which reads everything once more.

Functions come along, in whichever database the keys are. A library of the same name that is there with other code is left as it is unless --replace is given.

At the end it compares --sample keys, taken at random, at both ends: their values, whatever they are encoded as, and when they expire.

A Redis Cluster is imported master by master. One database is copied at a time, into --database of the cluster: keys of others are counted.

Exit codes: 0 all keys are there; 1 it failed or was interrupted (start it again to go on), or a key that was compared is not as it should be; 2 wrong usage,
or an end that does not answer; 3 it is done, but keys were left out: of types that Quoll does not have (streams, those of modules), too long, refused, of another database, or there with another value; or libraries of functions were.`

func (a *app) importCommand() *cobra.Command {
	opt := copyOptions{ends: config.DefaultCopied("from"), words: copyWords{"import", "from", "Importing", "Imported"}}
	command := &cobra.Command{
		Use:   "import",
		Short: "Copy the keys of a Redis, or of its dump.rdb, into a cluster",
		Long:  aboutImport,
		Example: `  quoll import --from redis://10.0.0.9:6379 --addr 10.0.0.1:6379
  quoll import --from rediss://user@redis.example:6380/2 --from-password-file redis.password --rate 20MiB --state import.state
  quoll import --from rediss://10.0.0.9:6380 --from-tls-ca-file redis-ca.crt --addr redis.example:6380 --tls --tls-ca-file ca.crt
  quoll import --rdb /var/lib/redis/dump.rdb --addr 10.0.0.1:6379,10.0.0.2:6379 --replace`,
	}
	flags := command.Flags()
	flags.SortFlags = false
	flags.StringVar(&opt.file, "rdb", "", "`file` of a Redis, its dump.rdb, instead of --from")
	flags.IntVar(&opt.db, "db", 0, "`number` of the database of that file")
	opt.run(a, command, a.importKeys)
	return command
}

// importKeys opens both ends and copies.
func (a *app) importKeys(ctx context.Context, opt copyOptions) error {
	cluster, redis, err := opt.access()
	if err != nil {
		return err
	}
	to, err := migrate.Connect(ctx, opt.ends.Addr, opt.into, cluster)
	if err != nil {
		return unreachable("addr", err)
	}
	defer to.Close()
	opt.To = to
	if opt.file == "" {
		from, err := migrate.ConnectURL(ctx, opt.ends.URL, redis)
		if err != nil {
			return unreachable("from", err)
		}
		defer from.Close()
		opt.From = migrate.From(ctx, from)
		return a.copyKeys(ctx, opt)
	}
	from, err := migrate.FromFile(opt.file, opt.db, to.Longest())
	if err != nil {
		return config.Faults{{Field: "rdb", Reason: err.Error()}}
	}
	defer from.Close()
	opt.From = from
	return a.copyKeys(ctx, opt)
}

// unreachable is the error for an end that does not answer.
func unreachable(flag string, err error) error {
	if errors.Is(err, context.Canceled) {
		return errInterruptedEarly
	}
	return config.Faults{{Field: flag, Reason: printable(explainServer(err))}}
}
