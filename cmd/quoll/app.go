package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/quolldb/quoll/internal/config"
	"github.com/quolldb/quoll/internal/suggest"
)

// app is one run of the program with everything that it touches of the outside, so
// that tests run it in-process.
type app struct {
	stdout, stderr io.Writer
	environ        []string
	// signals ask for the end: the first one in order, the second one at once.
	signals chan os.Signal
	exit    func(code int)

	// What the long-running commands do once they are configured.
	node  func(context.Context, config.Node, *slog.Logger) error
	proxy func(context.Context, config.Proxy, *config.File, *slog.Logger) error
	dev   func(context.Context, config.Dev, *slog.Logger, io.Writer, form) error

	// began is set when a command line has been understood: errors before that are
	// wrong usage.
	began bool
}

func newApp() *app {
	a := &app{
		stdout: os.Stdout, stderr: os.Stderr, environ: os.Environ(),
		signals: make(chan os.Signal, 2), exit: os.Exit,
		node: runNode, proxy: runProxy, dev: runDev,
	}
	signal.Notify(a.signals, syscall.SIGINT, syscall.SIGTERM)
	return a
}

const about = `Quoll is a replicated key/value store that Redis clients use. It survives losing any
machine, and never says that a write succeeded when it did not.

Exit codes:
  0  all went well
  1  it failed while running; verify: something was lost, stale or wrong;
     bench: answers were errors, or with --check missing or wrong
  2  wrong usage or configuration
  3  ring status: the cluster is not healthy; ring wait, node leave: not over within
     --timeout; verify: keys could not be read back; import, export: some keys were left
     out`

// run runs one command line and returns the exit code.
func (a *app) run(args []string) int {
	root := a.root()
	root.SetArgs(args)
	ctx, stop := a.untilSignal(context.Background())
	defer stop()
	command, err := root.ExecuteContextC(ctx)
	return a.conclude(command, err)
}

// root returns all commands.
func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:     "quoll",
		Short:   "A replicated key/value store for Redis clients",
		Long:    about,
		Version: thisBuild().String(),
		Example: `  quoll dev                      # a cluster in one process: connect with redis-cli
  quoll ring status              # how a cluster of quoll node and quoll proxy does
  quoll node --help              # how to set up one of your own`,
		Args:             noArgs,
		RunE:             help,
		SilenceUsage:     true,
		SilenceErrors:    true,
		PersistentPreRun: func(*cobra.Command, []string) { a.began = true },
	}
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return config.FlagFault(cmd.Flags(), err) })
	root.SetVersionTemplate("{{.Version}}\n")
	root.AddCommand(a.devCommand(), a.nodeCommand(), a.proxyCommand(), a.ringCommand(), a.importCommand(), a.exportCommand(), a.verifyCommand(), a.benchCommand(), a.certCommand(), a.healthCommand(), a.versionCommand())
	return root
}

// help is what a command does that only has subcommands.
func help(cmd *cobra.Command, _ []string) error { return cmd.Help() }

// noArgs refuses arguments, and says which subcommand may have been meant by them.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	return fmt.Errorf("unknown command %q for %q%s", args[0], cmd.CommandPath(), suggest.DidYouMean(args[0], "", names))
}

// conclude reports an error, one line per fault, and returns the exit code.
func (a *app) conclude(command *cobra.Command, err error) int {
	if err == nil {
		return exitOK
	}
	var faults config.Faults
	var unhealthy errUnhealthy
	var unfinished errUnfinished
	switch {
	case errors.As(err, &unhealthy):
		return exitUnhealthy
	case errors.As(err, &unfinished):
		_, _ = fmt.Fprintf(a.stderr, "quoll: %s\n", printable(unfinished.Error()))
		return exitUnhealthy
	case errors.As(err, &faults):
		for _, fault := range faults {
			_, _ = fmt.Fprintf(a.stderr, "quoll: %s\n", fault)
		}
		return exitUsage
	case !a.began:
		_, _ = fmt.Fprintf(a.stderr, "quoll: %s\nSee '%s --help'.\n", firstLine(err.Error()), command.CommandPath())
		return exitUsage
	}
	_, _ = fmt.Fprintf(a.stderr, "quoll: %s\n", explain(err))
	return exitFailure
}

// untilSignal returns a context that ends with the first signal, and a function that
// stops listening. The second signal ends the process at once.
func (a *app) untilSignal(parent context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancel(parent)
	over, finished := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(finished)
		for _, act := range []func(){cancel, func() { a.exit(exitFailure) }} {
			select {
			case <-a.signals:
				act()
			case <-over:
				return
			}
		}
	}()
	return ctx, func() {
		close(over)
		cancel()
		<-finished
	}
}
