package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
)

// progress shows on standard error how far something is that takes a while: a bar on a
// terminal, a line now and then elsewhere, nothing if it is quiet. (go-pretty's bar needs another
// library, and asks standard output how wide the terminal is, which may be a pipe.)
type progress struct {
	out      io.Writer
	verb     string
	terminal bool
	began    time.Time

	mu    sync.Mutex
	state shown

	over chan struct{}
	wait sync.WaitGroup
}

// shown is how far it is, in words and as a bar.
type shown interface {
	bar() string
	text(elapsed time.Duration) string
}

// progressState is how far it is with records.
type progressState struct {
	records uint64
	bytes   int64
	share   float64 // of the whole, 0 if that is not known
}

// How often it is shown.
const (
	barInterval  = 200 * time.Millisecond
	lineInterval = 5 * time.Second
)

// startProgress begins to show. The caller calls stop.
func startProgress(out io.Writer, verb string, quiet bool) *progress {
	p := &progress{out: out, verb: verb, terminal: isTerminal(out), began: time.Now(), state: progressState{}, over: make(chan struct{})}
	if quiet {
		return p
	}
	interval := lineInterval
	if p.terminal {
		interval = barInterval
	}
	p.wait.Go(func() { p.run(interval) })
	return p
}

// set tells how far it is.
func (p *progress) set(s shown) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.state = s
}

// stop ends it, and clears the bar.
func (p *progress) stop() {
	close(p.over)
	p.wait.Wait()
}

func (p *progress) run(interval time.Duration) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			p.show()
		case <-p.over:
			if p.terminal {
				fmt.Fprint(p.out, clearLine)
			}
			return
		}
	}
}

// clearLine goes to the beginning of the line and deletes it.
const clearLine = "\r\x1b[K"

func (p *progress) show() {
	p.mu.Lock()
	s := p.state
	p.mu.Unlock()
	if p.terminal {
		line := p.verb + " " + s.bar() + s.text(time.Since(p.began))
		fmt.Fprint(p.out, clearLine, line[:min(len(line), barColumns)])
		return
	}
	fmt.Fprintf(p.out, "quoll: %s %s\n", p.verb, s.text(time.Since(p.began)))
}

const (
	barWidth = 12
	// barColumns is what every terminal has. A longer line would not be cleared.
	barColumns = 79
)

// bar draws the share, if it is known.
func (s progressState) bar() string {
	if s.share == 0 {
		return ""
	}
	full := int(min(s.share, 1) * barWidth)
	return "[" + strings.Repeat("=", full) + strings.Repeat(" ", barWidth-full) + "] "
}

// text says the rest.
func (s progressState) text(elapsed time.Duration) string {
	text := fmt.Sprintf("%d records, %s, %s/s", s.records, humanBytes(uint64(s.bytes)), humanBytes(uint64(float64(s.bytes)/max(elapsed.Seconds(), 0.001))))
	if s.share == 0 {
		return text
	}
	left := time.Duration(float64(elapsed) * (1 - s.share) / s.share).Round(time.Second)
	if s.share >= 1 { // what was expected was a guess
		return "99%, " + text
	}
	return fmt.Sprintf("%d%%, %s, %s left", int(s.share*100), text, left)
}

// isTerminal reports whether what is written goes to a terminal that can move its cursor.
func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	if !ok || os.Getenv("TERM") == "dumb" {
		return false
	}
	info, err := file.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull) // such a device, too
	return err == nil && !os.SameFile(info, null)
}
