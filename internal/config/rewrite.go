package config

import (
	"bytes"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"
)

// File is the YAML file that the settings of a proxy were read from. It is used by one goroutine at a time.
type File struct {
	path     string
	settings *pflag.FlagSet // as Load has left them
}

// Setting is a setting and its value, as a flag takes it.
type Setting struct{ Name, Value string }

// errWritten says that an edit would do more than it should.
var errWritten = errors.New("it cannot be changed as the file is written: give each setting a line of its own")

// FileOf returns the file that Load has read the settings of a proxy from, whose flags are in fs. It is nil if there was none.
func FileOf(fs *pflag.FlagSet) *File {
	flag := fs.Lookup(fileFlag)
	if flag == nil || flag.Value.String() == "" {
		return nil
	}
	own := DefaultProxy()
	return &File{flag.Value.String(), settingsOf(&own, fs)}
}

// Path is the name of the file, as it was given.
func (f *File) Path() string { return f.path }

// Decides reports whether the file is where a setting is to be given: neither a flag nor a variable does, which would win.
func (f *File) Decides(name string) bool {
	flag := f.settings.Lookup(name)
	return flag != nil && (!flag.Changed || flag.Annotations[fromFile] != nil)
}

// Rewrite changes settings in the file, as far as it does not say the same already: the value of those that it has, in their line, and others in lines at its end, unless they are what the process
// was started with anyway. All else stays as it is, byte by byte.
//
// Nothing is changed if the file is not there, cannot be written, is not valid any more, or would not be with these values, or if a value is not in the line of its name. The error says
// why, Faults if it is about settings. The file is replaced, durably, by one with the same permissions and owner: whatever happens meanwhile, the old one or the new one is there. It blocks
// until the disk has it. If it is a symbolic link the file that it leads to is replaced.
func (f *File) Rewrite(list []Setting) error {
	text, err := os.ReadFile(f.path)
	if err != nil {
		return err
	}
	before, err := parseMapping(f.path, text)
	if err != nil {
		return err
	}
	wanted, err := f.wanted(list)
	if err != nil {
		return err
	}
	changed, err := f.edit(text, before, wanted)
	if err != nil {
		return err
	}
	after, err := parseMapping(f.path, changed)
	if err != nil {
		return errWritten
	}
	if err := f.same(before, after, wanted); err != nil {
		return err
	}
	if err := f.starts(after); err != nil || bytes.Equal(changed, text) {
		return err
	}
	return replaceFile(f.path, changed)
}

// wanted returns settings with their values as quoll writes them.
func (f *File) wanted(list []Setting) (wanted []Setting, err error) {
	var faults Faults
	for _, s := range list {
		value, err := written(s.Name, s.Value)
		if err != nil {
			faults.add(s.Name, "%q cannot be given in a file: %v", s.Value, err)
		}
		wanted = append(wanted, Setting{s.Name, value})
	}
	return wanted, faults.err()
}

// written returns the value of a setting of a proxy as quoll writes it.
func written(name, value string) (string, error) {
	cfg := DefaultProxy()
	fs := declared(&cfg)
	if err := fs.Set(name, value); err != nil {
		return "", err
	}
	return fs.Lookup(name).Value.String(), nil
}

// starts reports what the next start would complain of if it is as that of this process was, and the file has these settings.
func (f *File) starts(root *yaml.Node) error {
	next := DefaultProxy()
	fs := declared(&next)
	f.settings.VisitAll(func(flag *pflag.Flag) {
		if flag.Name != fileFlag && !f.Decides(flag.Name) {
			_ = fs.Set(flag.Name, valueOf(flag)) // it was set to that
		}
	})
	var faults Faults
	applyMapping(fs, f.path, root, &faults)
	return finish(&next, faults)
}

// valueOf returns the value of a flag, also of a secret.
func valueOf(flag *pflag.Flag) string {
	if secret, is := flag.Value.(secretValue); is {
		return secret.secret.Reveal()
	}
	return flag.Value.String()
}

// same reports whether a file says the same after it was edited, but for what is wanted.
func (f *File) same(before, after *yaml.Node, wanted []Setting) error {
	was, is := f.texts(before), f.texts(after)
	for _, s := range wanted {
		if text, there := is[s.Name]; there {
			if value, err := written(s.Name, text); err == nil && value == s.Value {
				was[s.Name] = text
			}
		}
	}
	for name := range is {
		if text, there := was[name]; !there || text != is[name] {
			return fmt.Errorf("%s: %w", name, errWritten)
		}
		delete(was, name)
	}
	for name := range was {
		return fmt.Errorf("%s: %w", name, errWritten)
	}
	return nil
}

// texts returns what a file says of each setting.
func (f *File) texts(root *yaml.Node) map[string]string {
	texts := map[string]string{}
	for i := 0; i+1 < len(root.Content); i += 2 {
		name := root.Content[i].Value
		flag := lookup(f.settings, name)
		if flag == nil {
			texts[name] = root.Content[i+1].Value // a fault
			continue
		}
		text, err := flatten(flag, root.Content[i+1])
		texts[flag.Name] = fmt.Sprint(text, err)
		if err == nil {
			texts[flag.Name] = text
		}
	}
	return texts
}
