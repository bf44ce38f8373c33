package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"
)

// fileFlag names the file with the settings. It is not itself a setting.
const fileFlag = "config"

func bindFile(fs *pflag.FlagSet) {
	fs.String(fileFlag, "", "YAML `file` with any of these settings, keys named as the flags (without dashes in front)")
}

// applyFile sets the flags that the command line and the environment left alone
// from a YAML file.
func applyFile(fs *pflag.FlagSet, path string, faults *Faults) {
	root, err := readMapping(path)
	if err != nil {
		faults.add(fileFlag, "%v", err)
		return
	}
	applyMapping(fs, path, root, faults)
}

// fromFile is the annotation of a flag whose value is that of the file.
const fromFile = "file"

// applyMapping is applyFile of a file that is read.
func applyMapping(fs *pflag.FlagSet, path string, root *yaml.Node, faults *Faults) {
	line := map[string]int{}
	for i := 0; i+1 < len(root.Content); i += 2 {
		key, value := root.Content[i], root.Content[i+1]
		place := fmt.Sprintf("%s line %d", path, key.Line)
		if key.Kind != yaml.ScalarNode || key.Value == "" {
			faults.add(fileFlag, "what stands where a setting's name belongs is no name (%s)", place)
			continue
		}
		flag := lookup(fs, key.Value)
		if flag == nil || flag.Name == fileFlag {
			faults.add(key.Value, "no such setting (%s)%s", place, seeHelp(key.Value, "", settings(fs)))
			continue
		}
		if line[flag.Name] != 0 {
			faults.add(flag.Name, "given twice in %s, lines %d and %d", path, line[flag.Name], key.Line)
			continue
		}
		line[flag.Name] = key.Line
		if text, err := flatten(flag, value); err != nil {
			faults.add(flag.Name, "%v (%s)", err, place)
		} else if !flag.Changed {
			set(fs, flag, text, place, faults)
			_ = fs.SetAnnotation(flag.Name, fromFile, []string{place}) // it is there
		}
	}
}

// readMapping reads the one mapping that a configuration file is. An empty file is
// an empty mapping.
func readMapping(path string) (*yaml.Node, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return parseMapping(path, text)
}

// parseMapping is readMapping of a file's text.
func parseMapping(path string, text []byte) (*yaml.Node, error) {
	var document yaml.Node
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	if err := decoder.Decode(&document); errors.Is(err, io.EOF) {
		return &yaml.Node{}, nil
	} else if err != nil {
		return nil, fmt.Errorf("%s is not valid YAML: %w", path, err)
	}
	if err := decoder.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s holds more than one YAML document", path)
	}
	root := document.Content[0]
	if root.Kind == yaml.ScalarNode && root.Tag == "!!null" {
		return &yaml.Node{}, nil
	}
	if root.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("%s is not a mapping of settings to values", path)
	}
	return root, nil
}

// flatten writes a YAML value as the flag's value on a command line.
func flatten(flag *pflag.Flag, node *yaml.Node) (string, error) {
	if node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	kind := flag.Value.Type()
	switch {
	case node.Kind == yaml.ScalarNode && node.Tag == "!!null":
		return "", errors.New("has no value")
	case node.Kind == yaml.ScalarNode:
		return node.Value, nil
	case node.Kind == yaml.SequenceNode && (kind == listType || kind == clusterType):
		return join(node.Content, ",", "")
	case node.Kind == yaml.MappingNode && kind == clusterType:
		return join(node.Content, "=", ",")
	case node.Kind == yaml.SequenceNode:
		return "", errors.New("is a list, but takes one value")
	default:
		return "", errors.New("is a mapping, but takes one value")
	}
}

// join joins scalars with the separators in turn: "," for a list, "=" and "," for
// the pairs of a mapping.
func join(nodes []*yaml.Node, odd, even string) (string, error) {
	if even == "" {
		even = odd
	}
	var text strings.Builder
	for i, node := range nodes {
		if node.Kind != yaml.ScalarNode || node.Tag == "!!null" {
			return "", fmt.Errorf("item %d is not a single value", i+1)
		}
		switch {
		case i == 0:
		case i%2 == 1:
			text.WriteString(odd)
		default:
			text.WriteString(even)
		}
		text.WriteString(node.Value)
	}
	return text.String(), nil
}
