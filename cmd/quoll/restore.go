package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/quolldb/quoll/internal/backup"
	"github.com/quolldb/quoll/internal/config"
	"github.com/quolldb/quoll/internal/database"
	"github.com/quolldb/quoll/node"
	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/ring"
)

// restoreOptions are the flags of `node restore`.
type restoreOptions struct {
	from                []string
	data, name, cluster string
	engine              string
	partial, quiet      bool
	form                form
}

func (o *restoreOptions) validate() error {
	var faults config.Faults
	for _, required := range []struct{ field, value, what string }{
		{"data", o.data, "the data directory of the node that is to have the data, which is made"},
		{"name", o.name, "the node's name, as in --initial-cluster"},
	} {
		if required.value == "" {
			faults = append(faults, config.Fault{Field: required.field, Reason: "is required: " + required.what})
		}
	}
	if len(o.from) == 0 {
		faults = append(faults, config.Fault{Field: "from", Reason: "is required: a backup, or several, each with a --from of its own"})
	}
	if !config.OnDisk(o.engine) {
		faults = append(faults, config.Fault{Field: "engine", Reason: fmt.Sprintf("%q keeps nothing on disk: use badger or pebble", o.engine)})
	}
	if len(faults) > 0 {
		return faults
	}
	return nil
}

func (a *app) restoreCommand() *cobra.Command {
	var opt restoreOptions
	command := &cobra.Command{
		Use:   "restore",
		Short: "Make a node's data directory from backups",
		Long: `Restore makes a new data directory that holds what one backup or several hold. It needs no
running process, and touches no directory that has anything in it. Of several backups the newest
version of each key counts; several are needed when no node held every slot.

To restore a cluster: with all its nodes stopped, restore the SAME backups into a new directory
for every node, then start every node with its new --data. They form a new ring, which has the
data. Their names, addresses and number may be others than before.

The restored node is a new replica: it does not join the ring that the backup is of, and one
node alone cannot be put back in that way. Nodes that were restored from different backups, or
of which some were not restored, do not form a ring: they would not agree on which writes
are newer, and lose some.`,
		Example: `  quoll node restore --from a.quoll --data /var/lib/quoll --name a     # on machine a
  quoll node restore --from a.quoll --data /var/lib/quoll --name b     # on machine b, and so on

  quoll node restore --from a.quoll --from b.quoll --from c.quoll --data /var/lib/quoll --name a
  zstd -dc a.quoll.zst | quoll node restore --from - --data /var/lib/quoll --name a`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := opt.validate(); err != nil {
				return err
			}
			err := a.restore(cmd.Context(), opt)
			if err != nil && cmd.Context().Err() != nil {
				err = errInterrupted
			}
			if err != nil {
				return fmt.Errorf("nothing was restored: %w", err)
			}
			return nil
		},
	}
	flags := command.Flags()
	flags.SortFlags = false
	flags.StringArrayVar(&opt.from, "from", nil, "`file` with a backup, - for standard input; may be given several times")
	flags.StringVar(&opt.data, "data", "", "`directory` to make; an empty one is used")
	flags.StringVar(&opt.name, "name", "", "`name` of the node whose directory it is to be")
	flags.StringVar(&opt.engine, "engine", config.Badger, "engine that the node is to have: badger or pebble")
	flags.StringVar(&opt.cluster, "cluster-name", "", "`name` of its cluster (default: that in the backup)")
	flags.BoolVar(&opt.partial, "partial", false, "restore even if the backups do not have every slot: the keys of the others are lost")
	flags.BoolVarP(&opt.quiet, "quiet", "q", false, "say nothing when all goes well")
	bindForm(command, &opt.form)
	return command
}

// source is a backup to restore from.
type source struct {
	node.RestoreSource
	file io.Closer
	size int64
}

func (a *app) restore(ctx context.Context, opt restoreOptions) error {
	var sources []source
	defer func() {
		for _, s := range sources {
			s.file.Close()
		}
	}()
	for _, path := range opt.from {
		s, err := openSource(path)
		if err != nil {
			return err
		}
		sources = append(sources, s)
	}
	if err := opt.judge(sources); err != nil {
		return err
	}
	log, end := newLogger(a.stderr, slog.LevelWarn, "text")
	defer end()
	target, err := openTarget(opt, log)
	if err != nil {
		return err
	}
	err = a.fill(ctx, target.engine, sources, opt.quiet)
	if err == nil {
		err = target.dir.SetRestored(digestOf(sources))
	}
	if err := target.close(err); err != nil {
		return err
	}
	switch {
	case opt.form == asJSON:
		return printJSON(a.stdout, restoreReport{opt.name, opt.cluster, opt.data, target.totals.Live, target.totals.Tombstones, togetherIn(sources)})
	case !opt.quiet:
		fmt.Fprintf(a.stderr, "Restored %d records, %d of them deletions, for node %s of cluster %s in %s.\n"+
			"Restore the same backups for every other node, then start them all.\n",
			target.totals.Live+target.totals.Tombstones, target.totals.Tombstones, opt.name, opt.cluster, opt.data)
		for _, number := range togetherIn(sources) {
			fmt.Fprintf(a.stderr, "Database %d was placed together. Its keys are there once the cluster has formed, and you have given:\n  quoll ring keyspace set %d placement=together\n", number, number)
		}
	}
	return nil
}

// restoreReport is what was made, as JSON.
type restoreReport struct {
	Node      string `json:"node"`
	Cluster   string `json:"cluster"`
	Data      string `json:"data"`
	Keys      uint64 `json:"keys"`
	Deletions uint64 `json:"deletions"`
	// Together are the databases that were placed together. A new ring has to be told so.
	Together []int `json:"together,omitempty"`
}

// togetherIn returns the databases that were placed together when the backups were made.
func togetherIn(sources []source) (numbers []int) {
	for number := range database.Count {
		if slices.ContainsFunc(sources, func(s source) bool { return s.Header().Placements.ID(number).Together() }) {
			numbers = append(numbers, number)
		}
	}
	return numbers
}

// digestOf identifies the backups that were read, in whatever order they were given.
func digestOf(sources []source) string {
	var digests []string
	for _, s := range sources {
		digests = append(digests, s.Digest().String())
	}
	slices.Sort(digests)
	return strings.Join(slices.Compact(digests), ",")
}

func openSource(path string) (source, error) {
	file, size, err := openBackup(path)
	if err != nil {
		return source{}, err
	}
	in, err := backup.NewReader(bufio.NewReaderSize(file, 1<<20))
	if err != nil {
		file.Close()
		return source{}, fmt.Errorf("%s: %w", path, err)
	}
	return source{node.RestoreSource{Name: path, Reader: in}, file, size}, nil
}

// judge looks at the headers: whether the backups have everything, and which cluster it
// is. It fills in the cluster's name.
func (o *restoreOptions) judge(sources []source) error {
	var slots ring.SlotSet
	for _, s := range sources {
		slots.Union(&s.Header().Slots)
	}
	if missing := slots.Missing(); missing.Len() > 0 && !o.partial {
		return fmt.Errorf("the backups do not have all slots, %d of %d are missing (%s): give other nodes' backups too, or --partial to do without the keys of these slots",
			missing.Len(), ring.Slots, missing)
	}
	if o.cluster == "" {
		o.cluster = sources[0].Header().Cluster.Name
	}
	_, err := ring.ParseInitial(o.name + "=host:1")
	if err == nil {
		c := ring.Initial{{Name: o.name, Peer: "host:1"}}.Cluster(o.cluster, 1)
		err = c.Validate()
	}
	return err
}

// fill writes what the backups hold to the engine.
func (a *app) fill(ctx context.Context, e engine.Engine, sources []source, quiet bool) error {
	p := startProgress(a.stderr, "Restoring", quiet)
	defer p.stop()
	restore := make([]node.RestoreSource, len(sources))
	size, known := int64(0), true
	for i, s := range sources {
		restore[i] = s.RestoreSource
		size, known = size+s.size, known && s.size > 0
	}
	if !known {
		size = 0
	}
	err := node.Restore(ctx, e, restore, func() {
		var sum progressState
		for _, s := range sources {
			state := readState(s.Reader, size)
			sum.records, sum.bytes, sum.share = sum.records+state.records, sum.bytes+state.bytes, sum.share+state.share
		}
		p.set(sum)
	})
	if errors.Is(err, engine.ErrFull) {
		err = fmt.Errorf("%w; free some space, or give a --data on a larger disk", err)
	}
	return err
}
