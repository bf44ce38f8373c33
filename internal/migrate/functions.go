package migrate

import (
	"context"
	"fmt"
	"strings"

	"github.com/quolldb/quoll/internal/function"
)

// Libraries counts what became of the libraries of functions of a source. They are of no database.
type Libraries struct {
	// Copied were loaded, Same were there already with the same code.
	Copied uint64 `json:"copied"`
	Same   uint64 `json:"same"`
	// LeftOut are there with other code (see Options.Replace), or were refused by the target.
	LeftOut uint64 `json:"left_out"`
}

// functions returns the codes of the libraries that a server has, none if it has no functions, or tells nobody of them.
func (s *Server) functions(ctx context.Context) (codes []string, err error) {
	var answer any
	err = patiently(ctx, func() (err error) {
		answer, err = s.clients[0].Do(ctx, "FUNCTION", "LIST", "WITHCODE").Result()
		if err != nil && isAnswer(err) && !passes(err) {
			answer, err = nil, nil
		}
		return err
	})
	list, _ := answer.([]any)
	for _, one := range list {
		fields, _ := one.([]any)
		for i := 0; i+1 < len(fields); i += 2 {
			if code, isText := fields[i+1].(string); isText && fields[i] == "library_code" {
				codes = append(codes, code)
			}
		}
	}
	return codes, err
}

// copyFunctions loads the libraries of the source at the target.
func (r *run) copyFunctions(ctx context.Context) (counts Libraries, examples []Example, err error) {
	codes, err := r.From.functions(ctx)
	if err != nil || len(codes) == 0 {
		return counts, nil, err
	}
	there, err := r.To.functions(ctx)
	if err != nil {
		return counts, nil, err
	}
	has := map[string]bool{}
	for _, code := range there {
		has[code] = true
	}
	for _, code := range codes {
		if has[code] {
			counts.Same++
			continue
		}
		why, err := r.loadFunctions(ctx, code)
		switch {
		case err != nil:
			return counts, examples, err
		case why == "":
			counts.Copied++
		default:
			counts.LeftOut++
			examples = append(examples, Example{"the library of functions " + libraryName(code), why})
		}
	}
	return counts, examples, nil
}

// loadFunctions loads a library. why says why the target does not want it. What was sent, and may have been loaded, is sent again.
func (r *run) loadFunctions(ctx context.Context, code string) (why string, err error) {
	args := []any{"FUNCTION", "LOAD", "REPLACE", code}
	if !r.Replace {
		args = []any{"FUNCTION", "LOAD", code}
	}
	tried := false
	err = patiently(ctx, func() error {
		err := r.To.clients[0].Do(ctx, args...).Err()
		switch {
		case err == nil, passes(err):
			tried = err != nil
			return err
		case tried && strings.Contains(err.Error(), "already exists"): // by the first attempt
			return nil
		}
		why = inWords(err).Error()
		return nil
	})
	if strings.Contains(why, "already exists") {
		why += ", with other code; --replace overwrites it"
	}
	return why, err
}

// libraryName returns the name in the first line of a library.
func libraryName(code string) string {
	name, _, problem := function.Metadata([]byte(code))
	if problem == "" {
		return name
	}
	line, _, _ := strings.Cut(code, "\n")
	return fmt.Sprintf("%.40q", line)
}
