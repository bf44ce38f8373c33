package command

import (
	_ "embed"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"
	"text/template"

	"github.com/stretchr/testify/require"
)

var writePage = flag.Bool("command.page", false, "write COMPATIBILITY.md")

//go:embed testdata/compatibility.md.tmpl
var pageTemplate string

// The ways in which a command of Redis is there, in the order of the page.
const (
	whole   = "whole"
	limited = "with limits"
	refused = "refused"
)

// support is one command or subcommand of Redis 7.0 on the page.
type support struct{ name, how, why string }

// pageRow is one line of a table: all commands of a group that are there in the same way.
type pageRow struct{ Names, How, Why string }

type pageGroup struct {
	Title, Note string
	Rows        []pageRow
}

// TestCompatibilityPage: COMPATIBILITY.md is what the table of commands says. `make compatibility` writes it.
func TestCompatibilityPage(t *testing.T) {
	const path = "../../COMPATIBILITY.md"
	page := renderPage(t)
	if *writePage {
		require.NoError(t, os.WriteFile(path, []byte(page), 0o644))
	}
	written, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, page, string(written), "COMPATIBILITY.md is not what the table of commands says: make compatibility writes it")
}

// TestSupportIsSaid: what is not whole has a reason, and in words that can stand behind the name.
func TestSupportIsSaid(t *testing.T) {
	for _, c := range All() {
		require.Equal(t, c.Route == RouteUnsupported, c.Refused != "", c.Name)
		for _, s := range supportOf(c) {
			require.Equal(t, s.how == whole, s.why == "", s.name)
			require.NotContains(t, s.why, "|", "%s: it stands in a table", s.name)
			require.False(t, strings.HasSuffix(s.why, "."), s.name)
		}
	}
}

// renderPage returns the page.
func renderPage(t *testing.T) string {
	var data struct {
		Total, Whole, Limited, Refused int
		Groups                         []pageGroup
	}
	for _, g := range groups {
		var all []support
		for _, c := range All() {
			if c.Group == g.name {
				all = append(all, supportOf(c)...)
			}
		}
		for _, s := range all {
			data.Total++
			*map[string]*int{whole: &data.Whole, limited: &data.Limited, refused: &data.Refused}[s.how]++
		}
		data.Groups = append(data.Groups, pageGroup{g.title, g.note, rowsOf(all)})
	}
	var page strings.Builder
	require.NoError(t, template.Must(template.New("").Parse(pageTemplate)).Execute(&page, data))
	return page.String()
}

// supportOf returns what there is of a command, and of its subcommands. A container of which nothing is said by itself is not a row.
func supportOf(c *Command) (list []support) {
	if isContainer := len(c.Subcommands)+len(c.Without) > 0; !isContainer || c.Differs+c.Limits != "" {
		list = append(list, supportOfOne(c))
	}
	for _, sub := range c.Subcommands {
		list = append(list, supportOfOne(sub))
	}
	for _, w := range c.Without {
		for _, name := range strings.Fields(w.Names) {
			list = append(list, support{shownName(c.Name + "|" + name), refused, w.Why})
		}
	}
	return list
}

func supportOfOne(c *Command) support {
	name := shownName(c.Name)
	switch {
	case c.Refused != "":
		return support{name, refused, c.Refused}
	case c.Differs != "" && c.Limits != "":
		return support{name, limited, c.Differs + ". " + capital(c.Limits)}
	case c.Differs+c.Limits != "":
		return support{name, limited, c.Differs + c.Limits}
	}
	return support{name, whole, ""}
}

// rowsOf puts those together that are there in the same way.
func rowsOf(all []support) (rows []pageRow) {
	for _, how := range []string{whole, limited, refused} {
		var whys []string
		for _, s := range all {
			if s.how == how && !slices.Contains(whys, s.why) {
				whys = append(whys, s.why)
			}
		}
		for _, why := range whys {
			var names []string
			for _, s := range all {
				if s.how == how && s.why == why {
					names = append(names, s.name)
				}
			}
			rows = append(rows, pageRow{strings.Join(names, ", "), how, capital(why)})
		}
	}
	return rows
}

// shownName is a name as users write it.
func shownName(name string) string { return strings.ToUpper(strings.ReplaceAll(name, "|", " ")) }

func capital(text string) string {
	if text == "" || text[0] == '`' {
		return text
	}
	return strings.ToUpper(text[:1]) + text[1:]
}
