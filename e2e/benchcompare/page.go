package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// A page of the documents has what was measured between two lines that nobody else writes.
const pageEnds = "<!-- until here -->\n"

// pageBegins is the first of these lines.
func pageBegins(target string) string {
	return fmt.Sprintf("<!-- make %s writes what follows -->\n", target)
}

// writePage puts a text into the page, in place of what a target of the Makefile has measured before, and the plots beside it, if there is to be a page. The text names the plots as if they were in its directory.
func (p *plan) writePage(target, text string, plots map[string]string) error {
	if p.page == "" {
		return nil
	}
	page, err := os.ReadFile(p.page)
	if err != nil {
		return err
	}
	directory := strings.TrimSuffix(p.page, filepath.Ext(p.page))
	for name, plot := range plots {
		text = strings.ReplaceAll(text, "("+name+")", "("+filepath.Base(directory)+"/"+name+")")
		if err := os.WriteFile(filepath.Join(directory, name), []byte(plot), 0o644); err != nil {
			return err
		}
	}
	changed, err := between(string(page), pageBegins(target), pageEnds, text)
	if err != nil {
		return fmt.Errorf("%s: %w", p.page, err)
	}
	return os.WriteFile(p.page, []byte(changed), 0o644)
}

// between puts a text between two lines, in place of what is there.
func between(page, begins, ends, text string) (string, error) {
	before, rest, found := strings.Cut(page, begins)
	_, after, found2 := strings.Cut(rest, ends)
	if !found || !found2 {
		return "", fmt.Errorf("the lines %q and %q are not there", begins, ends)
	}
	return before + begins + text + ends + after, nil
}
