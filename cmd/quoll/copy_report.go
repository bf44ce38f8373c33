package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/quolldb/quoll/internal/migrate"
)

// copyText says for people what a copy has done.
func copyText(r migrate.Report, words copyWords) string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s %d keys, %s, from %s to %s in %s", words.done, r.Copied, humanBytes(r.Bytes), printable(r.From), printable(r.To), r.Elapsed.Round(100*time.Millisecond))
	if r.Resumed {
		text.WriteString(" (with what was copied before)")
	}
	text.WriteString(".\n")
	for _, fate := range []struct {
		keys uint64
		what string
	}{
		{r.Same, "were there already, with the same value"},
		{r.Expired, "expired, or were deleted, meanwhile"},
		{r.Existing, "left out: they are there with another value, or expire at another time; --replace overwrites them"},
		{r.Unsupported, "left out: of types that Quoll does not have"},
		{r.TooLong, "left out: longer than the target takes (--max-bulk of nodes and proxies, --max-collection of nodes)"},
		{r.Refused, "left out: the target has refused them"},
		{r.Elsewhere, "left out: in other databases than the one that was read"},
	} {
		if fate.keys > 0 {
			fmt.Fprintf(&text, "%d %s.\n", fate.keys, fate.what)
		}
	}
	if l := r.Libraries; l != (migrate.Libraries{}) {
		fmt.Fprintf(&text, "Libraries of functions: %d copied, %d were there already, %d left out.\n", l.Copied, l.Same, l.LeftOut)
	}
	for _, e := range r.Examples {
		fmt.Fprintf(&text, "  %s: %s\n", printable(e.Key), printable(e.Why))
	}
	if v := r.Verified; v != nil {
		text.WriteString(verifiedText(v))
	}
	return text.String()
}

func verifiedText(v *migrate.Verified) string {
	text := fmt.Sprintf("Compared %d keys: %d differ", v.Compared, v.Differ)
	if v.Changed > 0 {
		text += fmt.Sprintf(", %d have changed at the source since", v.Changed)
	}
	text += fmt.Sprintf(". The target has %d keys", v.TargetKeys)
	if v.Missing {
		text += ", which is fewer than were copied that do not expire"
	}
	return text + ".\n"
}
