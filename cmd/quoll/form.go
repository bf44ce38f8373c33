package main

import (
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

// form is how a command prints: for people or for programs.
type form string

const (
	asTable form = "table"
	asJSON  form = "json"
	asCSV   form = "csv"
)

// formValue is a form as a flag's value, with the ones that the command knows.
type formValue struct {
	form  *form
	known []string
}

func (v formValue) Set(text string) error {
	switch {
	case slices.Contains(v.known, text):
		*v.form = form(text)
		return nil
	case len(v.known) == 2:
		return errors.New("neither " + v.known[0] + " nor " + v.known[1])
	}
	return errors.New("none of " + strings.Join(v.known, ", "))
}
func (v formValue) String() string {
	if v.form == nil { // pflag's zero value
		return ""
	}
	return string(*v.form)
}
func (v formValue) Type() string { return "form" }

// bindForm declares -o and --json for a command that prints a table, JSON, and maybe more. Of several the last one
// counts. The table is what it prints without them.
func bindForm(command *cobra.Command, f *form, more ...form) {
	*f = asTable
	known := []string{string(asTable), string(asJSON)}
	for _, m := range more {
		known = append(known, string(m))
	}
	last := len(known) - 1
	usage := "`form` of the output: " + strings.Join(known[:last], ", ") + " or " + known[last]
	command.Flags().VarP(formValue{f, known}, "output", "o", usage)
	command.Flags().BoolFunc("json", "the same as -o json", func(text string) error {
		yes, err := strconv.ParseBool(text)
		if yes {
			*f = asJSON
		}
		return err
	})
	// It fails only for a flag that does not exist.
	_ = command.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(known, cobra.ShellCompDirectiveNoFileComp))
}

func printJSON(w io.Writer, value any) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}
