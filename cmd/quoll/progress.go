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
// terminal, a line now and then elsewhere, nothing if it is quiet.
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

// shown is how far it is.
type shown interface {
	// done returns the share of the whole that is done, 0 if that is not known, and how long that took, of the time since
	// the beginning.
	done(elapsed time.Duration) (share float64, took time.Duration)
	// text says what else there is to know.
	text(elapsed time.Duration) string
}

// progressState is how far it is with records.
type progressState struct {
	records uint64
	bytes   int64
	share   float64 // of the whole, 0 if that is not known
}

// How often it is shown. Lines stay in a log: each comes after twice the time of the one before, up to a minute.
const (
	barInterval     = 200 * time.Millisecond
	lineInterval    = 5 * time.Second
	longestInterval = time.Minute
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
	timer := time.NewTimer(interval)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
			p.show()
			if !p.terminal {
				interval = min(2*interval, longestInterval)
			}
			timer.Reset(interval)
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
	elapsed := time.Since(p.began)
	if p.terminal {
		line := p.verb + " " + bar(s, elapsed) + words(s, elapsed)
		fmt.Fprint(p.out, clearLine, line[:min(len(line), barColumns)])
		return
	}
	fmt.Fprintf(p.out, "quoll: %s %s\n", p.verb, words(s, elapsed))
}

const (
	barWidth = 12
	// barColumns is what every terminal has. A longer line would not be cleared.
	barColumns = 79
)

// bar draws the share, if it is known.
func bar(s shown, elapsed time.Duration) string {
	share, _ := s.done(elapsed)
	if share == 0 {
		return ""
	}
	full := int(min(share, 1) * barWidth)
	return "[" + strings.Repeat("=", full) + strings.Repeat(" ", barWidth-full) + "] "
}

// words say the share, if it is known, and how much time is left, and the rest.
func words(s shown, elapsed time.Duration) string {
	share, took := s.done(elapsed)
	switch text := s.text(elapsed); {
	case share == 0:
		return text
	case share >= 1: // what was expected was a guess
		return "99%, " + text
	default:
		left := time.Duration(float64(took) * (1 - share) / share).Round(time.Second)
		return fmt.Sprintf("%d%%, %s left, %s", int(share*100), left, text)
	}
}

func (s progressState) done(elapsed time.Duration) (share float64, took time.Duration) {
	return s.share, elapsed
}

func (s progressState) text(elapsed time.Duration) string {
	return fmt.Sprintf("%d records, %s, %s/s", s.records, humanBytes(uint64(s.bytes)), humanBytes(uint64(float64(s.bytes)/max(elapsed.Seconds(), 0.001))))
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
