package main

import (
	"encoding/xml"
	"fmt"
	"math"
	"strings"
)

// svg is a picture without scripts or anything beside it. The same numbers give the same bytes.
type svg struct{ strings.Builder }

const style = `text{font-family:"DejaVu Sans",Verdana,system-ui,sans-serif;font-size:11px;fill:#4a5160}
.title{font-size:17px;font-weight:600;fill:#1d2330}
.head{font-size:12px;font-weight:600;fill:#1d2330}
.grid{stroke:#e4e7ec;stroke-width:1}
.axis{stroke:#8a93a3;stroke-width:1}
`

// begin writes the head of a picture: a title and, below it, lines of notes.
func begin(width, height float64, title string, notes ...string) *svg {
	s := &svg{}
	fmt.Fprintf(s, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f">`+"\n<title>%s</title>\n<style>\n%s</style>\n",
		width, height, width, height, escape(title), style)
	fmt.Fprintf(s, `<rect width="%.0f" height="%.0f" fill="#ffffff"/>`+"\n", width, height)
	s.text(margin, 28, "title", "start", title)
	for i, note := range notes {
		s.text(margin, 47+16*float64(i), "", "start", note)
	}
	return s
}

func (s *svg) end() string { return s.String() + "</svg>\n" }

func (s *svg) text(x, y float64, class, anchor, text string) {
	fmt.Fprintf(s, `<text x="%.1f" y="%.1f" class="%s" text-anchor="%s">%s</text>`+"\n", x, y, class, anchor, escape(text))
}

func (s *svg) line(x0, y0, x1, y1 float64, class string) {
	fmt.Fprintf(s, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" class="%s"/>`+"\n", x0, y0, x1, y1, class)
}

// curve draws a line through points, with a mark at each.
func (s *svg) curve(points [][2]float64, look look) {
	var path strings.Builder
	for i, at := range points {
		fmt.Fprintf(&path, "%c%.1f %.1f", "ML"[min(i, 1)], at[0], at[1])
	}
	fmt.Fprintf(s, `<path d="%s" fill="none" stroke="%s" stroke-width="%.1f" stroke-linejoin="round"/>`+"\n", path.String(), look.colour, look.width)
	for _, at := range points {
		fmt.Fprintf(s, `<circle cx="%.1f" cy="%.1f" r="%.1f" fill="%s"/>`+"\n", at[0], at[1], look.width+1, look.colour)
	}
}

func escape(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a Builder does not fail
	return b.String()
}

// axis maps values to places.
type axis struct {
	low, high, from, to float64
	log                 bool
}

func (a axis) at(v float64) float64 {
	low, high := a.low, a.high
	if a.log {
		v, low, high = math.Log10(max(v, a.low)), math.Log10(low), math.Log10(high)
	}
	return a.from + (v-low)/(high-low)*(a.to-a.from)
}

// even returns about n round values from 0 to at least most.
func even(most float64, n int) []float64 {
	rough := max(most, 1) / float64(n)
	step := math.Pow(10, math.Floor(math.Log10(rough)))
	for _, factor := range []float64{1, 2, 5, 10} {
		if step*factor >= rough {
			step *= factor
			break
		}
	}
	ticks := []float64{0}
	for ticks[len(ticks)-1] < most {
		ticks = append(ticks, float64(len(ticks))*step)
	}
	return ticks
}

// decades returns the powers of ten that enclose two values.
func decades(least, most float64) []float64 {
	low := math.Floor(math.Log10(max(least, 1)))
	high := max(low+1, math.Ceil(math.Log10(max(most, 1))))
	var ticks []float64
	for power := low; power <= high; power++ {
		ticks = append(ticks, math.Pow(10, power))
	}
	return ticks
}
