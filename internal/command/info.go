package command

import "github.com/quolldb/quoll/internal/resp"

// AppendInfo appends the entry of COMMAND INFO for a command: ten fields, as
// Redis 7.0. For a nil or an unsupported command it is null.
// Subcommands are those that Quoll supports.
func AppendInfo(dst []byte, c *Command, resp3 bool) []byte {
	if c == nil || c.Route == RouteUnsupported {
		return resp.AppendNull(dst, resp3)
	}
	first, last, step := c.Positions()
	dst = resp.AppendArray(dst, 10)
	dst = resp.AppendBulk(dst, c.Name)
	dst = resp.AppendInt(dst, int64(c.Arity))
	dst = appendSimpleSet(dst, c.Flags.Strings(), resp3)
	dst = resp.AppendInt(dst, int64(first))
	dst = resp.AppendInt(dst, int64(last))
	dst = resp.AppendInt(dst, int64(step))
	dst = appendSimpleSet(dst, c.ACL().Strings(), resp3)
	dst = resp.AppendSet(dst, len(c.Tips), resp3)
	for _, tip := range c.Tips {
		dst = resp.AppendBulk(dst, tip)
	}
	dst = resp.AppendSet(dst, len(c.KeySpecs), resp3)
	for i := range c.KeySpecs {
		dst = appendKeySpec(dst, &c.KeySpecs[i], resp3)
	}
	if len(c.Subcommands) == 0 {
		return resp.AppendSet(dst, 0, resp3)
	}
	dst = resp.AppendArray(dst, len(c.Subcommands))
	for _, sub := range c.Subcommands {
		dst = AppendInfo(dst, sub, resp3)
	}
	return dst
}

// appendKeySpec appends a key specification: begin_search by index or keyword, find_keys by
// range. See https://redis.io/docs/reference/key-specs/.
func appendKeySpec(dst []byte, k *KeySpec, resp3 bool) []byte {
	fields := 3
	if k.Notes != "" {
		fields++
	}
	dst = resp.AppendMap(dst, fields, resp3)
	if k.Notes != "" {
		dst = appendField(dst, "notes", k.Notes)
	}
	dst = resp.AppendBulk(dst, "flags")
	dst = appendSimpleSet(dst, k.Flags.Strings(), resp3)

	if k.Unknown {
		return appendUnknown(dst, resp3)
	}
	dst = appendSearch(dst, k, resp3)

	if k.Counted {
		return appendCounted(dst, resp3)
	}
	last := k.Last
	if last > 0 { // behind a keyword there is one, and it is relative already
		last -= k.First // relative to the first key
	}
	dst = resp.AppendBulk(dst, "find_keys")
	dst = resp.AppendMap(dst, 2, resp3)
	dst = appendField(dst, "type", "range")
	dst = resp.AppendBulk(dst, "spec")
	dst = resp.AppendMap(dst, 3, resp3)
	dst = appendNumber(dst, "lastkey", last)
	dst = appendNumber(dst, "keystep", k.Step)
	return appendNumber(dst, "limit", k.Limit)
}

// appendSearch appends begin_search: where the keys begin.
func appendSearch(dst []byte, k *KeySpec, resp3 bool) []byte {
	dst = resp.AppendBulk(dst, "begin_search")
	dst = resp.AppendMap(dst, 2, resp3)
	if k.Keyword != "" {
		dst = appendField(dst, "type", "keyword")
		dst = resp.AppendBulk(dst, "spec")
		dst = resp.AppendMap(dst, 2, resp3)
		dst = appendField(dst, "keyword", k.Keyword)
		return appendNumber(dst, "startfrom", k.First)
	}
	dst = appendField(dst, "type", "index")
	dst = resp.AppendBulk(dst, "spec")
	dst = resp.AppendMap(dst, 1, resp3)
	return appendNumber(dst, "index", k.First)
}

// appendUnknown appends where keys are of which nobody can say it beforehand.
func appendUnknown(dst []byte, resp3 bool) []byte {
	for _, step := range []string{"begin_search", "find_keys"} {
		dst = resp.AppendBulk(dst, step)
		dst = resp.AppendMap(dst, 2, resp3)
		dst = appendField(dst, "type", "unknown")
		dst = resp.AppendBulk(dst, "spec")
		dst = resp.AppendMap(dst, 0, resp3)
	}
	return dst
}

// appendCounted appends find_keys for keys of which there are as many as the argument at the beginning says.
func appendCounted(dst []byte, resp3 bool) []byte {
	dst = resp.AppendBulk(dst, "find_keys")
	dst = resp.AppendMap(dst, 2, resp3)
	dst = appendField(dst, "type", "keynum")
	dst = resp.AppendBulk(dst, "spec")
	dst = resp.AppendMap(dst, 3, resp3)
	dst = appendNumber(dst, "keynumidx", 0)
	dst = appendNumber(dst, "firstkey", 1)
	return appendNumber(dst, "keystep", 1)
}

// AppendDocs appends the pair of COMMAND DOCS for a supported command: its name,
// and the map that documents it, as Redis 7.0 but without the fields "history"
// and "arguments". Redis leaves out commands that it does not know.
func AppendDocs(dst []byte, c *Command, resp3 bool) []byte {
	fields := 3
	if c.Complexity != "" {
		fields++
	}
	switch {
	case c.DeprecatedSince != "":
		fields += 3
	case c.Op == OpDebug:
		fields++
	}
	if len(c.Subcommands) > 0 {
		fields++
	}
	dst = resp.AppendBulk(dst, c.Name)
	dst = resp.AppendMap(dst, fields, resp3)
	dst = appendField(dst, "summary", c.Summary)
	dst = appendField(dst, "since", c.Since)
	dst = appendField(dst, "group", c.Group)
	if c.Complexity != "" {
		dst = appendField(dst, "complexity", c.Complexity)
	}
	if c.Op == OpDebug { // Redis does not expect anybody to use it
		dst = resp.AppendBulk(dst, "doc_flags")
		dst = appendSimpleSet(dst, []string{"syscmd"}, resp3)
	}
	if c.DeprecatedSince != "" {
		dst = resp.AppendBulk(dst, "doc_flags")
		dst = appendSimpleSet(dst, []string{"deprecated"}, resp3)
		dst = appendField(dst, "deprecated_since", c.DeprecatedSince)
		dst = appendField(dst, "replaced_by", c.ReplacedBy)
	}
	if len(c.Subcommands) > 0 {
		dst = resp.AppendBulk(dst, "subcommands")
		dst = resp.AppendMap(dst, len(c.Subcommands), resp3)
		for _, sub := range c.Subcommands {
			dst = AppendDocs(dst, sub, resp3)
		}
	}
	return dst
}

func appendField(dst []byte, name, value string) []byte {
	return resp.AppendBulk(resp.AppendBulk(dst, name), value)
}

func appendNumber(dst []byte, name string, value int) []byte {
	return resp.AppendInt(resp.AppendBulk(dst, name), int64(value))
}

func appendSimpleSet(dst []byte, members []string, resp3 bool) []byte {
	dst = resp.AppendSet(dst, len(members), resp3)
	for _, member := range members {
		dst = resp.AppendSimple(dst, member)
	}
	return dst
}
