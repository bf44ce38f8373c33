package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/quolldb/quoll/internal/wire"
)

// version and commit are set by release builds:
//
//	go build -ldflags "-X main.version=v1.2.3 -X main.commit=0123abc" ./cmd/quoll
var version, commit string

// build says what is running.
type build struct {
	Version string `json:"version"`
	// Commit is empty when the build does not know it.
	Commit   string `json:"commit,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
	// Protocol is the version of the peer protocol: nodes and proxies with the same
	// one understand each other.
	Protocol int `json:"protocol"`
	// FaultInjection: it was built with the tag faults, for tests.
	FaultInjection bool `json:"fault_injection,omitempty"`
}

// thisBuild returns what the linker was told, else what Go recorded.
func thisBuild() build {
	b := build{
		Version: version, Commit: commit, Protocol: wire.ProtocolVersion, FaultInjection: wire.FaultInjection,
		Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		if b.Version == "" {
			b.Version = info.Main.Version
		}
		for _, setting := range info.Settings {
			if setting.Key == "vcs.revision" && b.Commit == "" {
				b.Commit = setting.Value
			}
		}
	}
	if b.Version == "" || b.Version == "(devel)" {
		b.Version = "devel"
	}
	return b
}

func (b build) String() string {
	text := "quoll " + b.Version
	if b.Commit != "" {
		text += " (" + b.Commit[:min(12, len(b.Commit))] + ")"
	}
	text = fmt.Sprintf("%s, %s, %s, peer protocol %d", text, b.Go, b.Platform, b.Protocol)
	if b.FaultInjection {
		text += ", with fault injection: for tests only"
	}
	return text
}

func (a *app) versionCommand() *cobra.Command {
	form := asTable
	command := &cobra.Command{
		Use:   "version",
		Short: "Print the version of this program",
		Example: `  quoll version
  quoll version --json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if form == asJSON {
				return printJSON(cmd.OutOrStdout(), thisBuild())
			}
			_, err := fmt.Fprintln(cmd.OutOrStdout(), thisBuild())
			return err
		},
	}
	bindForm(command, &form)
	return command
}
