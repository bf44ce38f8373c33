package main

import (
	"fmt"
	"log/slog"
	"strings"

	"github.com/quolldb/quoll/internal/config"
	"github.com/quolldb/quoll/proxy/session"
)

// rewriter returns what writes parameters of Redis that CONFIG SET has changed to the file that a proxy was started with, nil if there is none.
func rewriter(file *config.File, log *slog.Logger) func([]session.Parameter) error {
	if file == nil {
		return nil
	}
	return func(changed []session.Parameter) error {
		var list []config.Setting
		for _, p := range changed {
			settings, err := settingsFor(p)
			if err != nil {
				return err
			}
			list = append(list, settings...)
		}
		if err := file.Rewrite(list); err != nil {
			return err
		}
		for _, s := range list {
			if !file.Decides(s.Name) {
				log.Warn("a setting was written to the file, but was given as a flag or a variable, which wins when this is started again", "setting", s.Name, "value", s.Value, "file", file.Path())
			}
		}
		return nil
	}
}

// settingsFor returns a parameter of Redis as settings of a proxy.
func settingsFor(p session.Parameter) ([]config.Setting, error) {
	switch p.Name {
	case "maxclients":
		return []config.Setting{{Name: "max-clients", Value: p.Value}}, nil
	case "timeout":
		return []config.Setting{{Name: "idle-timeout", Value: p.Value + "s"}}, nil
	case "maxmemory-clients":
		return []config.Setting{{Name: "client-memory", Value: p.Value}}, nil
	case "latency-tracking":
		return []config.Setting{{Name: p.Name, Value: fmt.Sprint(p.Value == "yes")}}, nil
	case "client-output-buffer-limit":
		fields := strings.Fields(p.Value)
		if len(fields) < 4 || fields[0] != "normal" {
			return nil, fmt.Errorf("%s: %q is not that of the class normal", p.Name, p.Value)
		}
		return []config.Setting{
			{Name: "client-output-limit", Value: fields[1]}, {Name: "client-output-soft-limit", Value: fields[2]}, {Name: "client-output-soft-time", Value: fields[3] + "s"},
		}, nil
	}
	return []config.Setting{{Name: p.Name, Value: p.Value}}, nil
}
