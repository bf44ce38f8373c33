package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/quolldb/quoll/internal/admin"
)

func (a *app) recoverCommand(ask asker) *cobra.Command {
	var opt changeOptions
	command := &cobra.Command{
		Use:   "recover",
		Short: "Let the ring be changed again when most of those who decide are gone for good",
		Long: `Changes of the ring are decided by up to five of its nodes, and need a majority of them. When that is
gone for good, two of three nodes for example, nobody can change the ring any more, not even to
replace them. Recover has the node that is asked decide from then on, together with the others that
answer. It says what is lost, and goes on only with --accept-data-loss and the name of the cluster.

It changes nothing else. Next plan that the nodes that are gone are replaced or leave, and commit
that with --accept-data-loss, too.

Make sure that they do not come back: stop their machines. If one does after all, it follows the
new ring, and what was decided or written without this node's knowledge is dropped. It refuses while
a majority answers, and if another node knows more of what was decided, which it names.`,
		Example: `  quoll ring recover                               # what is lost?
  quoll ring recover --accept-data-loss quoll
  quoll ring plan replace n2 n4 replace n3 n5
  quoll ring commit --accept-data-loss quoll`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return ask(func(client *admin.Client) error {
				report, err := client.RecoverRing(cmd.Context(), opt.acceptLoss, a.option(opt))
				switch {
				case err != nil:
					return err
				case opt.form == asJSON:
					return printJSON(cmd.OutOrStdout(), report)
				}
				return printRecovery(cmd.OutOrStdout(), report)
			})
		},
	}
	command.Flags().StringVar(&opt.acceptLoss, "accept-data-loss", "", "`name` of the cluster: go on without those that are gone")
	opt.bind(command)
	return command
}

// printRecovery says what is lost, and what to do next.
func printRecovery(out io.Writer, r admin.RingRecovery) error {
	var alive, dead []string
	for _, d := range r.Deciders {
		if d.Alive {
			alive = append(alive, d.Name)
		} else {
			dead = append(dead, d.Name)
		}
	}
	lines := []string{
		fmt.Sprintf("Of those who decide on the ring %s are gone, and %s.", list(dead), left(alive)),
		fmt.Sprintf("Members that do not answer: %s. Lost is what only they know:", list(r.Gone)),
		fmt.Sprintf("  - changes of the ring after version %d", r.Version),
		fmt.Sprintf("  - what was written last to %s of which too few replicas are left to tell", plural(int64(r.SlotsMinority), "slot")),
		fmt.Sprintf("  - all that is in %s of which no replica is left", plural(int64(r.SlotsGone), "slot")),
		fmt.Sprintf("These slots have about %s.", plural(r.Keys, "key")),
	}
	if r.Done {
		lines[2] = "  - changes of the ring that nobody knows who answers"
		lines = append(lines, fmt.Sprintf("Node %s decides now, with the others that answer; the ring goes on with version %d.", r.Node, r.Version),
			"Next replace those that are gone: quoll ring plan replace NODE BY, then quoll ring commit --accept-data-loss "+r.Cluster)
	} else {
		lines = append(lines, "Nothing was done. If they are gone for good: quoll ring recover --accept-data-loss CLUSTER")
	}
	for _, line := range lines {
		if _, err := fmt.Fprintln(out, printable(line)); err != nil {
			return err
		}
	}
	return nil
}

// list names some nodes.
func list(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// left says who still decides.
func left(names []string) string {
	switch len(names) {
	case 0:
		return "none is left"
	case 1:
		return names[0] + " is left"
	}
	return strings.Join(names, ", ") + " are left"
}
