package main

import (
	"encoding/json"
	"errors"
	"io"

	"github.com/spf13/cobra"
)

// form is how a command prints: for people or for programs. It is a flag's value.
type form string

const (
	asTable form = "table"
	asJSON  form = "json"
)

func (f *form) Set(text string) error {
	if text != string(asTable) && text != string(asJSON) {
		return errors.New("neither table nor json")
	}
	*f = form(text)
	return nil
}
func (f *form) String() string { return string(*f) }
func (f *form) Type() string   { return "form" }

func bindForm(command *cobra.Command, f *form) {
	command.Flags().VarP(f, "output", "o", "`form` of the output: table or json")
	// It fails only for a flag that does not exist.
	_ = command.RegisterFlagCompletionFunc("output",
		cobra.FixedCompletions([]string{string(asTable), string(asJSON)}, cobra.ShellCompDirectiveNoFileComp))
}

func printJSON(w io.Writer, value any) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}
