package timeline

import (
	"encoding/xml"
	"fmt"
	"strings"
)

// style is all of the picture's colours and fonts.
const style = `text{font-family:"DejaVu Sans",Verdana,system-ui,sans-serif;font-size:11px;fill:#4a5160}
.title{font-size:18px;font-weight:600;fill:#1d2330}
.note{font-size:12px}
.head{font-size:12px;font-weight:600;fill:#1d2330}
.tag{font-size:10.5px;fill:#3d3468}
.grid{stroke:#e4e7ec;stroke-width:1}
.axis{stroke:#8a93a3;stroke-width:1}
.band{fill:#5a48d8;fill-opacity:.11}
.bar{fill:#6c5ce0;fill-opacity:.28}
.ok{fill:#7cc9a8}
.refused{fill:#f0b03c}
.unknown{fill:#d64550}
.p50{fill:none;stroke:#2f74c0;stroke-width:1.5;stroke-linejoin:round}
.p99{fill:none;stroke:#b3468c;stroke-width:1.5;stroke-linejoin:round}
.dot50{fill:#2f74c0}
.dot99{fill:#b3468c}
`

func (s *svg) printf(format string, args ...any) { fmt.Fprintf(&s.out, format, args...) }

func (s *svg) begin(width, height int, title string) {
	s.printf(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d">`+"\n", width, height, width, height)
	s.printf("<title>%s</title>\n<style>\n%s</style>\n", escape(title), style)
	s.printf(`<rect width="%d" height="%d" fill="#ffffff"/>`+"\n", width, height)
}

func (s *svg) end() { s.printf("</svg>\n") }

// text writes a line; anchor says which end of it is at x: start, middle or end.
func (s *svg) text(x, y float64, class, anchor, text string) {
	s.printf(`<text x="%.1f" y="%.1f" class="%s" text-anchor="%s">%s</text>`+"\n", x, y, class, anchor, escape(text))
}

func (s *svg) line(x0, y0, x1, y1 float64, class string) {
	s.printf(`<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" class="%s"/>`+"\n", x0, y0, x1, y1, class)
}

func (s *svg) rect(x0, y0, x1, y1 float64, class string) {
	s.printf(`<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" class="%s"/>`+"\n", x0, y0, x1-x0, y1-y0, class)
}

func (s *svg) path(d, class string) {
	if d != "" {
		s.printf(`<path d="%s" class="%s"/>`+"\n", d, class)
	}
}

// escape makes any text safe between tags; what XML cannot say becomes U+FFFD.
func escape(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a Builder does not fail
	return b.String()
}
