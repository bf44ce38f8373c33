package script

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"
	"github.com/yuin/gopher-lua/parse"
)

// chunkName is what scripts are called in errors.
const chunkName = "user_script"

// Flags are what a script says of itself in its first line.
type Flags struct {
	Declared           bool // there is such a line at all: without it Redis finds out what a script does as it does it
	NoWrites           bool
	AllowOOM           bool
	AllowStale         bool
	NoCluster          bool
	AllowCrossSlotKeys bool
}

// Program is a script that can be run, by several goroutines at once.
type Program struct {
	Flags Flags
	proto *lua.FunctionProto
}

// Compile reads a script. An error is as Redis words it: a reply of EVAL without its "-".
func Compile(source []byte) (*Program, error) {
	p := &Program{}
	body, err := p.readFirstLine(source)
	if err != nil {
		return nil, err
	}
	if p.proto, err = compile(body, chunkName); err != nil {
		return nil, errors.New("ERR Error compiling script (new function): " + err.Error())
	}
	return p, nil
}

// readFirstLine reads "#!lua flags=...", if there is one, and returns the script without it, but with its line.
func (p *Program) readFirstLine(source []byte) (body []byte, err error) {
	if !bytes.HasPrefix(source, []byte("#!")) {
		return source, nil
	}
	line, _, found := bytes.Cut(source, []byte("\n"))
	if !found {
		return nil, errors.New("ERR Invalid script shebang")
	}
	words := strings.Fields(string(line))
	if words[0] != "#!lua" {
		return nil, fmt.Errorf("ERR Unexpected engine in script shebang: %s", words[0])
	}
	p.Flags.Declared = true
	for _, word := range words[1:] {
		list, ok := strings.CutPrefix(word, "flags=")
		if !ok {
			return nil, fmt.Errorf("ERR Unknown lua shebang option: %s", word)
		}
		if unknown := p.Flags.set(list); unknown != "" {
			return nil, fmt.Errorf("ERR Unexpected flag in script shebang: %s", unknown)
		}
	}
	return source[len(line):], nil
}

// set sets flags by their names and returns the first name that is none.
func (f *Flags) set(list string) (unknown string) {
	for name := range strings.SplitSeq(list, ",") {
		switch name {
		case "":
		case "no-writes":
			f.NoWrites = true
		case "allow-oom":
			f.AllowOOM = true
		case "allow-stale":
			f.AllowStale = true
		case "no-cluster":
			f.NoCluster = true
		case "allow-cross-slot-keys":
			f.AllowCrossSlotKeys = true
		default:
			return name
		}
	}
	return ""
}

// syntaxError is an error of a script's text that is found while it is rewritten.
type syntaxError string

func (e syntaxError) Error() string { return string(e) }

// compile makes code of source. No panic of the compiler leaves it.
func compile(source []byte, name string) (proto *lua.FunctionProto, err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case syntaxError:
			err = fmt.Errorf("%s:1: %s", name, string(p))
		case error:
			err = fmt.Errorf("%s:1: %w", name, p)
		default:
			err = fmt.Errorf("%s:1: %v", name, p)
		}
	}()
	var chunk []ast.Stmt
	if chunk, err = parse.Parse(bytes.NewReader(source), name); err != nil {
		return nil, asLua(source, name, err)
	}
	if proto, err = lua.Compile(rewrite(chunk), name); err != nil {
		return nil, asLua(source, name, err)
	}
	proto.IsVarArg &^= lua.VarArgNeedsArg // "arg" is no name in the main function, so nobody would see that table
	return proto, nil
}

var (
	atPlace = regexp.MustCompile(`line:(\d+)\(column:\d+\) near '((?s:.*?))': +((?s:.*))`)
	atLine  = regexp.MustCompile(`compile error near line\((\d+)\) \S+: ((?s:.*))`)
	atEnd   = regexp.MustCompile(`at EOF: +((?s:.*))`)
)

// asLua words an error of the parser more as Lua does. Which symbol was expected the parser does not say.
func asLua(source []byte, name string, err error) error {
	text := strings.TrimRight(err.Error(), "\n ")
	switch at := atPlace.FindStringSubmatch(text); {
	case at != nil && at[3] == "syntax error":
		return fmt.Errorf("%s:%s: syntax error near '%s'", name, at[1], at[2])
	case at != nil:
		return fmt.Errorf("%s:%s: %s near '%s'", name, at[1], at[3], at[2])
	}
	if at := atLine.FindStringSubmatch(text); at != nil {
		return fmt.Errorf("%s:%s: %s", name, at[1], at[2])
	}
	if at := atEnd.FindStringSubmatch(text); at != nil {
		return fmt.Errorf("%s:%d: %s near '<eof>'", name, 1+bytes.Count(source, []byte("\n")), at[1])
	}
	return errors.New(text)
}
