//go:build unix

package differential

import (
	"bufio"
	"slices"
	"strconv"
	"strings"
)

// value is a decoded reply.
type value struct {
	kind byte
	// text is that of anything that is not nested; null is "" with the kind '_', in RESP2 too.
	text string
	list []value
}

// parseReply decodes a complete reply. What is none has kind 0.
func parseReply(reply string) value {
	v, err := parseValue(bufio.NewReader(strings.NewReader(reply)))
	if err != nil {
		return value{}
	}
	return v
}

func parseValue(in *bufio.Reader) (value, error) {
	line, err := in.ReadString('\n')
	if err != nil || len(line) < 3 {
		return value{}, err
	}
	v := value{kind: line[0], text: strings.TrimSuffix(line[1:], "\r\n")}
	n, _ := strconv.Atoi(v.text)
	switch {
	case n < 0 && strings.IndexByte("$*", v.kind) >= 0:
		return value{kind: '_'}, nil
	case strings.IndexByte("$=", v.kind) >= 0:
		bulk := make([]byte, n+2)
		for i := range bulk {
			if bulk[i], err = in.ReadByte(); err != nil {
				return value{}, err
			}
		}
		v.text = string(bulk[:n])
	case v.kind == '%':
		n *= 2
		fallthrough
	case strings.IndexByte("*~>", v.kind) >= 0:
		v.text = ""
		for range n {
			item, err := parseValue(in)
			if err != nil {
				return value{}, err
			}
			v.list = append(v.list, item)
		}
	}
	return v, nil
}

// texts returns the texts of a list.
func (v value) texts() []string {
	var all []string
	for _, item := range v.list {
		all = append(all, item.text)
	}
	return all
}

// number returns the integer that v holds.
func (v value) number() (int64, bool) {
	n, err := strconv.ParseInt(v.text, 10, 64)
	return n, err == nil
}

// pairs returns a flat list of names and values, or a map, as a map.
func (v value) pairs() map[string]string {
	all := map[string]string{}
	for i := 0; i+1 < len(v.list); i += 2 {
		all[v.list[i].text] = v.list[i+1].text
	}
	return all
}

// shape returns how a reply is built, without what it says.
func (v value) shape() string {
	if len(v.list) == 0 && v.kind != '*' {
		return string(v.kind)
	}
	out := string(v.kind) + "["
	for _, item := range v.list {
		out += item.shape()
	}
	return out + "]"
}

// sorted returns everything that a reply says, the pairs of its maps in one order.
func (v value) sorted() string { return v.without("%") }

// unordered is the same where arrays and sets have no order either.
func (v value) unordered() string { return v.without("%*~") }

// without is the text of a value whose aggregates of some kinds have no order.
func (v value) without(order string) string {
	var all []string
	step := 1
	if v.kind == '%' {
		step = 2
	}
	for pair := range slices.Chunk(v.list, step) {
		var said string
		for _, item := range pair {
			said += item.without(order)
		}
		all = append(all, said)
	}
	if strings.IndexByte(order, v.kind) >= 0 {
		slices.Sort(all)
	}
	return string(v.kind) + strconv.Quote(v.text) + strconv.Itoa(len(v.list)) + strings.Join(all, "")
}
