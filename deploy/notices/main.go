// Command notices prints the licences of all that is linked into the binary of quoll, with the texts that they demand to be passed
// on. A release has it as THIRD_PARTY_LICENSES; CI runs it because it fails where a module has no licence, or one that is not among those
// that a project under the Apache License may be linked with.
//
//	go run ./deploy/notices [package...]
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	packages := os.Args[1:]
	if len(packages) == 0 {
		packages = []string{"./cmd/quoll"}
	}
	if err := run(os.Stdout, packages); err != nil {
		fmt.Fprintln(os.Stderr, "notices:", err)
		os.Exit(1)
	}
}

// module is one that is linked.
type module struct{ Path, Version, Dir string }

// run prints the notices for packages, and returns what is wrong with all of them.
func run(out io.Writer, packages []string) error {
	modules, err := linked(packages)
	if err != nil {
		return err
	}
	var wrong []error
	for _, m := range modules {
		text, err := texts(m.Dir)
		if err != nil {
			wrong = append(wrong, fmt.Errorf("%s %s: %w", m.Path, m.Version, err))
			continue
		}
		fmt.Fprintf(out, "%s\n%s %s: %s\n\n%s\n", strings.Repeat("=", 80), m.Path, m.Version, identify(text), text)
	}
	return errors.Join(wrong...)
}

// linked returns the modules of others that packages are linked with, in order of their names.
func linked(packages []string) ([]module, error) {
	list := exec.Command("go", append([]string{"list", "-deps", "-json=Module"}, packages...)...)
	list.Stderr = os.Stderr
	listed, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	var modules []module
	for decoder := json.NewDecoder(bytes.NewReader(listed)); ; {
		var p struct {
			Module *struct {
				module
				Main bool
			}
		}
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		if p.Module != nil && !p.Module.Main && !slices.Contains(modules, p.Module.module) {
			modules = append(modules, p.Module.module)
		}
	}
	slices.SortFunc(modules, func(a, b module) int { return strings.Compare(a.Path, b.Path) })
	return modules, nil
}

// texts returns what a module says of its licence: the files in its directory, one after the other.
func texts(dir string) (string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	var all []string
	for _, e := range entries {
		name := strings.ToUpper(e.Name())
		if e.IsDir() || !slices.ContainsFunc([]string{"LICENSE", "LICENCE", "COPYING", "NOTICE"}, func(prefix string) bool { return strings.HasPrefix(name, prefix) }) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return "", err
		}
		all = append(all, string(text))
	}
	text := strings.Join(all, "\n")
	if identify(text) == "" {
		return "", errors.New("has no licence that may be passed on with quoll, or one that this program does not know: look at it, and do without the module or teach the program")
	}
	return text, nil
}

// identify returns the name of the licence that a text is, in SPDX's words, or "" for one that is not allowed.
func identify(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if strings.Contains(text, "GENERAL PUBLIC LICENSE Version") { // its title, also beside another licence; MPL names it in small letters
		return ""
	}
	for _, known := range []struct{ name, says string }{
		{"Apache-2.0", "Apache License Version 2.0"},
		{"MPL-2.0", "Mozilla Public License, version 2.0"},
		{"MPL-2.0", "Mozilla Public License Version 2.0"},
		{"BSD-3-Clause", "Neither the name of"},
		{"BSD-3-Clause", "nor the names of"},
		{"BSD-2-Clause", "Redistributions in binary form must reproduce the above copyright notice"},
		{"ISC", "Permission to use, copy, modify, and/or distribute this software"},
		{"MIT", "Permission is hereby granted, free of charge, to any person obtaining a copy"},
	} {
		if strings.Contains(text, known.says) {
			return known.name
		}
	}
	return ""
}
