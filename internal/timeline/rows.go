package timeline

import "unicode/utf8"

// tag is a fault's bar above the panels, with its label beside or on it.
type tag struct {
	mark
	row    int     // -1: there is no place for it; its band is drawn all the same
	x0, x1 float64 // the bar
	text   float64 // where the label begins
}

const (
	maxRows   = 12
	rowHeight = 17
	charWidth = 6.3 // of the labels' font, on average and a little more
	minBar    = 3.0
	maxLabel  = 80 // characters
)

// place gives each fault the first row in which neither its bar nor its label meets another one's.
func place(marks []mark, x scale) (tags []tag, rows int) {
	type span struct{ from, to float64 }
	var taken [maxRows][]span
	for _, m := range marks {
		m.label = shorten(m.label)
		tag := tag{mark: m, row: -1, x0: x.at(m.from.Seconds()), x1: x.at(m.to.Seconds())}
		tag.x1 = max(tag.x1, tag.x0+minBar)
		length := charWidth * float64(utf8.RuneCountInString(m.label))
		tag.text = max(x.from, min(tag.x0+4, x.to-length))
		want := span{min(tag.x0, tag.text) - 4, max(tag.x1, tag.text+length) + 8}
		for row := range taken {
			free := true
			for _, other := range taken[row] {
				free = free && (want.to <= other.from || other.to <= want.from)
			}
			if free {
				taken[row] = append(taken[row], want)
				tag.row, rows = row, max(rows, row+1)
				break
			}
		}
		tags = append(tags, tag)
	}
	return tags, rows
}

// shorten cuts labels that would take the whole width.
func shorten(label string) string {
	if utf8.RuneCountInString(label) <= maxLabel {
		return label
	}
	return string([]rune(label)[:maxLabel-1]) + "…"
}
