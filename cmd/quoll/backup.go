package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/quolldb/quoll/internal/admin"
	"github.com/quolldb/quoll/internal/backup"
	"github.com/quolldb/quoll/internal/config"
)

// backupOptions are the flags of `node backup`.
type backupOptions struct {
	to, check    string
	force, quiet bool
	rate         config.Size
	form         form
}

func (o *backupOptions) validate() error {
	switch {
	case (o.to == "") == (o.check == ""):
		return config.Faults{{Field: "to", Reason: "give --to FILE to make a backup, or --check FILE to look at one"}}
	case o.rate < 0 || o.rate > 0 && o.rate < config.KiB:
		return config.Faults{{Field: "rate", Reason: fmt.Sprintf("%s is out of range: at least 1KiB, or 0 for no limit", o.rate)}}
	case o.to == "-" && o.form == asJSON:
		return config.Faults{{Field: "output", Reason: "standard output is the backup: give --to a file, or leave --json out and look at what was written with --check"}}
	}
	return nil
}

func (a *app) backupCommand() *cobra.Command {
	cfg, opt := config.DefaultClient(), backupOptions{form: asTable}
	command := &cobra.Command{
		Use:   "backup",
		Short: "Back up what a running node holds, or check a backup",
		Long: `Backup asks a running node, through its admin API, for everything that it holds, and writes
it to a file. Clients go on meanwhile. Each key is in it as the node held it at one moment
while the backup was made; the moments of different keys differ.

One node's backup holds what that node holds, which is every key only if it is a replica of
every slot (as many replicas as nodes). A write that the other replicas have and this one has
not, because it was down or is slow, is missing. The backups of all nodes, or of a majority of
every slot's replicas, restored together hold every write that was acknowledged before the first
one began; a key that was deleted about that time may be there again.

The file appears under its name when it is complete and on disk: a backup that fails or is
interrupted leaves none. It is not compressed and not encrypted: pipe it through a program
that does that, and mind the exit code. Checksums guard every part of it, and --check reads
all of it.`,
		Example: `  quoll node backup --to /backup/a-$(date +%F).quoll
  quoll node backup --to a.quoll --admin 10.0.0.1:7100 --secret-file /etc/quoll/secret --rate 20MiB
  quoll node backup --check a.quoll
  quoll node backup --to - | zstd > a.quoll.zst     # bash: set -o pipefail
  zstd -dc a.quoll.zst | quoll node backup --check -`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := opt.validate(); err != nil {
				return err
			}
			if opt.check != "" {
				return a.checkBackup(cmd, opt)
			}
			if err := config.Load(&cfg, cmd.Flags(), a.environ); err != nil {
				return err
			}
			client, err := a.choose(cmd.Context(), cfg)
			if err != nil {
				return err
			}
			defer client.Close()
			return a.makeBackup(cmd.Context(), client, opt)
		},
	}
	flags := command.Flags()
	flags.SortFlags = false
	flags.StringVar(&opt.to, "to", "", "`file` to write, - for standard output")
	flags.BoolVar(&opt.force, "force", false, "replace the file if it exists")
	flags.Var(&opt.rate, "rate", "most bytes for each second; 0 for no limit")
	flags.StringVar(&opt.check, "check", "", "`file` to read and check instead, - for standard input")
	flags.BoolVarP(&opt.quiet, "quiet", "q", false, "say nothing when all goes well")
	bindForm(command, &opt.form)
	cfg.Bind(flags)
	return command
}

// makeBackup fetches a backup, checks it on the way, and keeps it if it is whole.
func (a *app) makeBackup(ctx context.Context, client *admin.Client, opt backupOptions) error {
	file, err := a.createBackup(opt.to, opt.force)
	if err != nil {
		return err
	}
	defer file.discard()
	in, err := a.fetch(ctx, client, file, opt)
	if err == nil {
		err = file.keep()
	}
	if err != nil {
		if ctx.Err() != nil {
			err = errInterrupted
		}
		return fmt.Errorf("no backup was made: %w", err)
	}
	switch {
	case opt.form == asJSON:
		return printJSON(a.stdout, summaryOf(in))
	case !opt.quiet:
		counts := in.Counts()
		fmt.Fprintf(a.stderr, "Backed up node %s: %d records, %d of them deletions; %s.\n",
			in.Header().Node, counts.Live+counts.Tombstones, counts.Tombstones, humanBytes(uint64(in.Offset())))
	}
	return nil
}

var errInterrupted = errors.New("interrupted")

// fetch copies a node's backup to file.
func (a *app) fetch(ctx context.Context, client *admin.Client, file io.Writer, opt backupOptions) (*backup.Reader, error) {
	body, err := client.Backup(ctx, int64(opt.rate))
	if err != nil {
		return nil, err
	}
	defer body.Close()
	in, err := backup.NewReader(io.TeeReader(body, file))
	if err != nil {
		return nil, err
	}
	p := startProgress(a.stderr, "Backing up", opt.quiet)
	defer p.stop()
	return in, readAll(in, func() {
		counts := in.Counts()
		records := counts.Live + counts.Tombstones
		p.set(progressState{records, in.Offset(), float64(records) / float64(max(in.Header().Records, 1))})
	})
}

// readAll reads a backup to its end. It calls each after every part.
func readAll(in *backup.Reader, each func()) error {
	for {
		_, err := in.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		each()
	}
}
