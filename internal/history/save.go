package history

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/anishathalye/porcupine"
)

// maxPages bounds the pages that Save draws: one wrong key is seldom alone.
const maxPages = 10

// Save writes what was recorded into a directory: operations.jsonl, one Operation a
// line in the order of the calls; events.jsonl, one Event a line; and for each of the first
// violations violation-N.html, a page that shows how far a linearization gets, with the
// events above it.
func (r *Recorder) Save(dir string, result Result) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []Operation
	for ops := range maps.Values(r.ops) {
		all = append(all, ops...)
	}
	slices.SortFunc(all, func(a, b Operation) int { return cmp.Compare(a.Call, b.Call) })
	if err := writeLines(filepath.Join(dir, "operations.jsonl"), all); err != nil {
		return err
	}
	if err := writeLines(filepath.Join(dir, "events.jsonl"), r.events); err != nil {
		return err
	}
	for i, violation := range result.Violations[:min(maxPages, len(result.Violations))] {
		if err := violation.draw(r.model(), filepath.Join(dir, fmt.Sprintf("violation-%d.html", i+1)), r.events); err != nil {
			return err
		}
	}
	return nil
}

func writeLines[T any](path string, items []T) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	buffered := bufio.NewWriter(file)
	encoder := json.NewEncoder(buffered)
	for _, item := range items {
		if err = encoder.Encode(item); err != nil {
			break
		}
	}
	return cmp.Or(err, buffered.Flush(), file.Close())
}

// draw writes a page with Porcupine's picture of the shortest history.
func (v Violation) draw(model porcupine.Model, path string, events []Event) error {
	ops := operations(v.Shortest)
	last := int64(0)
	for i, op := range v.Shortest {
		ops[i].ClientId = lane(ops[:i], op.Call)
		last = max(last, op.Call)
		if op.Return != Never {
			last = max(last, op.Return)
		}
	}
	for i := range ops {
		ops[i].Return = min(ops[i].Return, last+1) // for ever is too wide for a page
	}
	_, info := porcupine.CheckOperationsVerbose(model, ops, 0)
	var notes []porcupine.Annotation
	for _, event := range events {
		if event.At <= last {
			notes = append(notes, porcupine.Annotation{Tag: "faults", Start: event.At, Description: event.Text})
		}
	}
	info.AddAnnotations(notes)
	return porcupine.VisualizePath(model, info, path)
}

// lane is the first line of the page that is free at a moment.
func lane(drawn []porcupine.Operation, moment int64) int {
	for n := 0; ; n++ {
		taken := slices.ContainsFunc(drawn, func(op porcupine.Operation) bool { return op.ClientId == n && op.Return >= moment })
		if !taken {
			return n
		}
	}
}
