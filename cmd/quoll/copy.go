package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/quolldb/quoll/internal/config"
	"github.com/quolldb/quoll/internal/database"
	"github.com/quolldb/quoll/internal/migrate"
)

// copyOptions are the flags of `import` and `export`.
type copyOptions struct {
	migrate.Options
	ends  config.Copied
	file  string
	db    int
	into  int // the database of the cluster
	rate  config.Size
	quiet bool
	form  form
	words copyWords
}

// copyWords say which way it goes; way is the flag of the other end.
type copyWords struct{ name, way, doing, done string }

// bind declares the flags that both have.
func (o *copyOptions) bind(command *cobra.Command) {
	flags := command.Flags()
	o.ends.Bind(flags)
	flags.BoolVar(&o.Replace, "replace", false, "overwrite keys that are there with another value")
	flags.IntVar(&o.into, "database", 0, "`number` of the database of the cluster")
	flags.IntVar(&o.Connections, "connections", 8, "`number` of connections to either end, 1 to 64")
	flags.Var(&o.rate, "rate", "most bytes of values for each second; 0 for no limit")
	flags.StringVar(&o.State, "state", "", "`file` that says how far it is; if it exists, go on from there")
	flags.IntVar(&o.Sample, "sample", 1000, "`number` of keys to compare at the end; 0 for none")
	flags.BoolVarP(&o.quiet, "quiet", "q", false, "say nothing when all goes well")
	bindForm(command, &o.form)
}

// run makes a command one that copies with these options.
func (o *copyOptions) run(a *app, command *cobra.Command, copies func(context.Context, copyOptions) error) {
	command.Args = noArgs
	command.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := o.complete(config.Load(&o.ends, cmd.Flags(), a.environ)); err != nil {
			return err
		}
		return copies(cmd.Context(), *o)
	}
	o.bind(command)
}

// complete checks the flags. Wrong is what is wrong with the ends.
func (o *copyOptions) complete(wrong error) error {
	var faults config.Faults
	errors.As(wrong, &faults)
	fault := func(field, reason string) { faults = append(faults, config.Fault{Field: field, Reason: reason}) }
	switch imports := o.words.name == "import"; {
	case imports && (o.ends.URL == "") == (o.file == ""):
		fault("from", "give --from redis://host:port, or --rdb FILE")
	case !imports && o.ends.URL == "":
		fault("to", "give --to redis://host:port")
	}
	if o.into < 0 || o.into >= database.Count {
		fault("database", fmt.Sprintf("%d is not from 0 to %d", o.into, database.Count-1))
	}
	if reason := o.Faults(); reason != "" {
		fault("connections", reason)
	}
	if o.rate < 0 || o.rate > 0 && o.rate < config.KiB {
		fault("rate", fmt.Sprintf("%s is out of range: at least 1KiB, or 0 for no limit", o.rate))
	}
	if o.Sample < 0 || o.Sample > 1_000_000 {
		fault("sample", fmt.Sprintf("%d is not from 0 to 1000000", o.Sample))
	}
	if len(faults) > 0 {
		return faults
	}
	o.Rate = int64(o.rate)
	return nil
}

// access is how both ends let in. Errors are Faults.
func (o *copyOptions) access() (cluster, redis migrate.Access, err error) {
	cluster.Password, redis.Password = o.ends.Password.Reveal(), o.ends.URLPassword.Reveal()
	if cluster.Dial, err = serverDialer(o.ends.ServerTLS, ""); err == nil {
		redis.Dial, err = serverDialer(o.ends.URLTLS, o.words.way+"-")
	}
	return cluster, redis, err
}

// copyKeys copies, says what was done, and concludes.
func (a *app) copyKeys(ctx context.Context, opt copyOptions) error {
	p := startProgress(a.stderr, opt.words.doing, opt.quiet)
	opt.Progress = func(now migrate.Progress) { p.set(copyState{now}) }
	report, err := migrate.Run(ctx, opt.Options)
	p.stop()
	if ctx.Err() != nil {
		err = errInterrupted
	}
	if opt.form == asJSON {
		if printed := printJSON(a.stdout, report); printed != nil {
			return printed
		}
	} else if !opt.quiet || err != nil || report.LeftOut()+report.Elsewhere+report.Libraries.LeftOut > 0 || report.Verified.Wrong() {
		fmt.Fprint(a.stderr, copyText(report, opt.words))
	}
	switch {
	case errors.Is(err, migrate.ErrState):
		return config.Faults{{Field: "state", Reason: err.Error()}}
	case err != nil:
		return fmt.Errorf("the %s is not complete: %w; start it again to go on", opt.words.name, err)
	case report.Verified.Wrong():
		return errDiffers
	case report.LeftOut()+report.Elsewhere > 0:
		return errUnfinished(fmt.Sprintf("%d keys were left out", report.LeftOut()+report.Elsewhere))
	case report.Libraries.LeftOut > 0:
		return errUnfinished(fmt.Sprintf("%d libraries of functions were left out", report.Libraries.LeftOut))
	}
	return nil
}

// errDiffers ends a copy whose target is not as its source.
var errDiffers = errors.New("the target has not what was copied; do clients write to it meanwhile?")

// copyState is how far a copy is.
type copyState struct{ migrate.Progress }

func (s copyState) done(elapsed time.Duration) (share float64, took time.Duration) {
	return s.Share, elapsed
}

func (s copyState) text(elapsed time.Duration) string {
	of := ""
	if s.Total > 0 {
		of = fmt.Sprintf(" of %d", s.Total)
	}
	return fmt.Sprintf("%d%s keys, %s, %s/s", s.Keys, of, humanBytes(s.Bytes), humanBytes(uint64(float64(s.Bytes)/max(elapsed.Seconds(), 0.001))))
}
