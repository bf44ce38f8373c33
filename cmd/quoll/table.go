package main

import (
	"errors"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode"

	"github.com/quolldb/quoll/internal/config"
)

// grid is a table without lines, as people and awk read it.
type grid struct{ lines *strings.Builder }

func newGrid(header ...string) grid {
	g := grid{new(strings.Builder)}
	upper := make([]string, len(header))
	for i, name := range header {
		upper[i] = strings.ToUpper(name)
	}
	g.add(upper...)
	return g
}

func (g grid) add(cells ...string) {
	for _, cell := range cells {
		g.lines.WriteString(printable(cell) + "\t") // no cell has a tab of its own then
	}
	g.lines.WriteByte('\n')
}

// write renders the grid without the blanks at the ends of lines.
func (g grid) write(w io.Writer) error {
	var aligned, text strings.Builder
	writer := tabwriter.NewWriter(&aligned, 0, 0, 2, ' ', 0)
	_, err := io.WriteString(writer, g.lines.String())
	if err = errors.Join(err, writer.Flush()); err != nil {
		return err
	}
	for line := range strings.Lines(aligned.String()) {
		text.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	_, err = io.WriteString(w, text.String())
	return err
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
