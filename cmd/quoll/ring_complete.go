package main

import (
	"context"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/quolldb/quoll/internal/admin"
)

// Shells complete names of members and IDs of plans: they ask the ring. Where it does not answer there is nothing to offer.

// completeTime is how long somebody who pressed Tab waits.
const completeTime = time.Second

type completer = func(cmd *cobra.Command, args []string, given string) ([]string, cobra.ShellCompDirective)

// completeWith offers what words there are in the ring.
func completeWith(ask asker, words func(args []string, s admin.RingStatus) []string) completer {
	return func(_ *cobra.Command, args []string, _ string) (offered []string, _ cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(context.Background(), completeTime)
		defer cancel()
		_ = ask(func(client *admin.Client) error { // without an answer nothing is offered
			status, err := client.Ring(ctx)
			if err == nil {
				offered = words(args, status)
			}
			return err
		})
		return offered, cobra.ShellCompDirectiveNoFileComp
	}
}

// completePlan offers what comes next in a list of changes.
func completePlan(ask asker) completer {
	members := completeWith(ask, func(_ []string, s admin.RingStatus) []string { return namesOf(s, false) })
	waiting := completeWith(ask, func(_ []string, s admin.RingStatus) []string { return namesOf(s, true) })
	racks := completeWith(ask, func(_ []string, s admin.RingStatus) []string {
		racks := []string{"-"}
		for _, m := range s.Members {
			if m.Rack != "" && !slices.Contains(racks, m.Rack) {
				racks = append(racks, m.Rack)
			}
		}
		return racks
	})
	return func(cmd *cobra.Command, args []string, given string) ([]string, cobra.ShellCompDirective) {
		switch admin.NextRingWord(args) {
		case admin.WordMember:
			return members(cmd, args, given)
		case admin.WordWaiting:
			return waiting(cmd, args, given)
		case admin.WordRack:
			return racks(cmd, args, given)
		case admin.WordVerb:
			verbs := admin.RingVerbs()
			if len(args) == 0 {
				verbs = append(verbs, "clear")
			}
			return verbs, cobra.ShellCompDirectiveNoFileComp
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
}

// completeUnderWay offers the ID of the plan under way.
func completeUnderWay(ask asker) completer {
	return completeWith(ask, func(args []string, s admin.RingStatus) []string {
		if s.Plan == nil || len(args) > 0 {
			return nil
		}
		return []string{s.Plan.ID}
	})
}

// completePlanID offers the ID by which what is staged can be committed.
func completePlanID(ask asker) completer {
	return func(_ *cobra.Command, args []string, _ string) (offered []string, _ cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(context.Background(), completeTime)
		defer cancel()
		_ = ask(func(client *admin.Client) error { // without an answer nothing is offered
			plan, err := client.RingPlan(ctx)
			if err == nil && plan.ID != "" && len(args) == 0 {
				offered = []string{plan.ID}
			}
			return err
		})
		return offered, cobra.ShellCompDirectiveNoFileComp
	}
}
