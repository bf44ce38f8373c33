package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/quolldb/quoll/internal/config"
	"github.com/quolldb/quoll/internal/migrate"
)

const aboutExport = `Export copies the keys of a running cluster into a Redis, the way out of quoll import, and as that does it: SCAN, DUMP and PTTL at a proxy, RESTORE
at the Redis, 5.0 or newer. See 'quoll import --help' for keys that are there already, for --state, and for what is compared at the end.

Exit codes: 0 all keys are there; 1 it failed or was interrupted (start it again to go on), or a key that was compared is not as it should be; 2 wrong usage,
or an end that does not answer; 3 it is done, but keys were left out: refused, or there with another value.`

func (a *app) exportCommand() *cobra.Command {
	opt := copyOptions{ends: config.DefaultCopied("to"), words: copyWords{"export", "to", "Exporting", "Exported"}}
	command := &cobra.Command{
		Use:   "export",
		Short: "Copy the keys of a cluster into a Redis",
		Long:  aboutExport,
		Example: `  quoll export --to redis://10.0.0.9:6379 --addr 10.0.0.1:6379
  quoll export --to redis://10.0.0.9:6379/1 --rate 20MiB --state export.state`,
	}
	command.Flags().SortFlags = false
	opt.run(a, command, a.exportKeys)
	return command
}

// exportKeys opens both ends and copies.
func (a *app) exportKeys(ctx context.Context, opt copyOptions) error {
	cluster, redis, err := opt.access()
	if err != nil {
		return err
	}
	from, err := migrate.Connect(ctx, opt.ends.Addr, opt.into, cluster)
	if err != nil {
		return unreachable("addr", err)
	}
	defer from.Close()
	to, err := migrate.ConnectURL(ctx, opt.ends.URL, redis)
	if err != nil {
		return unreachable("to", err)
	}
	defer to.Close()
	opt.From, opt.To = migrate.From(ctx, from), to
	return a.copyKeys(ctx, opt)
}
