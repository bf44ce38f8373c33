package main

import (
	"io"
	"strconv"
	"strings"
	"unicode"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/quolldb/quoll/internal/config"
)

// grid is a table without lines, as people and awk read it.
type grid struct{ writer table.Writer }

func newGrid(header ...string) grid {
	g := grid{table.NewWriter()}
	style := table.StyleDefault
	style.Options = table.OptionsNoBordersAndSeparators
	style.Box.PaddingLeft, style.Box.PaddingRight = "", "  "
	g.writer.SetStyle(style)
	g.writer.AppendHeader(row(header))
	return g
}

func (g grid) add(cells ...string) { g.writer.AppendRow(row(cells)) }

// write renders the grid without the blanks at the ends of lines.
func (g grid) write(w io.Writer) error {
	var text strings.Builder
	for line := range strings.Lines(g.writer.Render() + "\n") {
		text.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	_, err := io.WriteString(w, text.String())
	return err
}

func row(cells []string) table.Row {
	r := make(table.Row, len(cells))
	for i, cell := range cells {
		r[i] = printable(cell)
	}
	return r
}

// printable returns text as it is if a terminal shows it as such, else quoted: keys
// and messages come from elsewhere, and may be any bytes.
func printable(text string) string {
	for _, r := range text {
		if r == unicode.ReplacementChar || !unicode.IsPrint(r) {
			return strconv.Quote(text)
		}
	}
	return text
}

// humanBytes writes a number of bytes with one decimal and an IEC unit.
func humanBytes(n uint64) string {
	unit := ""
	value := float64(n)
	for _, next := range []string{"KiB", "MiB", "GiB", "TiB"} {
		if value < float64(config.KiB) {
			break
		}
		value /= float64(config.KiB)
		unit = next
	}
	if unit == "" {
		return strconv.FormatUint(n, 10) + "B"
	}
	return strconv.FormatFloat(value, 'f', 1, 64) + unit
}
