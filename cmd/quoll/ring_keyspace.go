package main

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/quolldb/quoll/internal/admin"
	"github.com/quolldb/quoll/internal/database"
	"github.com/quolldb/quoll/ring/change"
)

func (a *app) keyspaceCommand(ask asker) *cobra.Command {
	form := asTable
	command := &cobra.Command{
		Use:   "keyspace",
		Short: "Show or set how the keys of each database are placed",
		Long: `Keyspace shows the databases 0 to 15, and how the keys of each are placed: spread over all slots,
or together in one.

In a database that is placed together all keys are in one slot. Transactions, Lua scripts, RENAME,
SUNIONSTORE and so on then work on any of its keys, as on one Redis; no hash tags are needed. The
price is that one node at a time does all the work of that database: it is as fast, and as large,
as one slot can be. It is replicated, and survives what every other slot survives.`,
		Example: `  quoll ring keyspace
  quoll ring keyspace set 1 placement=together`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return ask(func(client *admin.Client) error {
				all, err := client.Keyspaces(cmd.Context())
				if err != nil {
					return err
				}
				return showKeyspaces(cmd, all, form)
			})
		},
	}
	bindForm(command, &form)
	command.AddCommand(a.keyspaceSetCommand(ask))
	return command
}

func showKeyspaces(cmd *cobra.Command, all []admin.Keyspace, form form) error {
	if form == asJSON {
		return printJSON(cmd.OutOrStdout(), all)
	}
	return printKeyspaces(cmd.OutOrStdout(), all)
}

func printKeyspaces(w io.Writer, all []admin.Keyspace) error {
	table := newGrid("database", "placement", "slot", "state")
	for _, k := range all {
		slot, state := "all", "open"
		if k.Slot != nil {
			slot = strconv.Itoa(int(*k.Slot))
		}
		if k.Closed {
			state = "closed: its placement is being changed; repeat quoll ring keyspace set if nobody does that any more"
		}
		table.add(strconv.Itoa(k.Database), k.Placement, slot, state)
	}
	return table.write(w)
}

func (a *app) keyspaceSetCommand(ask asker) *cobra.Command {
	var opt changeOptions
	command := &cobra.Command{
		Use:   "set DATABASE placement=together|spread",
		Short: "Place the keys of a database together in one slot, or spread over all",
		Long: `Set changes how the keys of a database are placed. The database must have no keys, and every
member of the ring must answer. While it is changed, which takes less than a second, clients get
TRYAGAIN in that database.`,
		Example: `  quoll ring keyspace set 0 placement=together
  quoll ring keyspace set 1 placement=spread --dry-run`,
		Args: func(_ *cobra.Command, args []string) error {
			_, _, err := parsePlacing(args)
			return err
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			number, together, err := parsePlacing(args)
			if err != nil {
				return err
			}
			return ask(func(client *admin.Client) error {
				all, err := client.PlaceRing(cmd.Context(), number, together, a.option(opt))
				switch {
				case err != nil:
					return err
				case opt.form == asJSON:
					return printJSON(cmd.OutOrStdout(), all)
				case opt.dryRun:
					_, err = fmt.Fprintf(cmd.OutOrStdout(), "Nothing was done. It would be: the keys of database %d are placed %s.\n", number, change.PlacementName(together))
				default:
					_, err = fmt.Fprintf(cmd.OutOrStdout(), "The keys of database %d are placed %s.\n", number, change.PlacementName(together))
				}
				return err
			})
		},
	}
	opt.bind(command)
	return command
}

// parsePlacing reads DATABASE placement=together|spread.
func parsePlacing(args []string) (number int, together bool, err error) {
	if len(args) != 2 {
		return 0, false, errors.New("give a DATABASE and placement=together or placement=spread, such as: 1 placement=together")
	}
	if number, err = strconv.Atoi(args[0]); err != nil || number < 0 || number >= database.Count {
		return 0, false, fmt.Errorf("%q is no database: give a number from 0 to %d", args[0], database.Count-1)
	}
	text, found := strings.CutPrefix(args[1], "placement=")
	if !found {
		return 0, false, fmt.Errorf("%q is not known: give placement=together or placement=spread", args[1])
	}
	if together, err = admin.ParsePlacement(text); err != nil {
		return 0, false, fmt.Errorf("placement: %w", err)
	}
	return number, together, nil
}
