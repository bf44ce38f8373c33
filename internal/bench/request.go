package bench

import "strconv"

// requests writes commands into a buffer.
type requests struct {
	keys   keyspace
	values values
	fields *fields
	heads  [kinds][]byte // up to the key
	name   []byte        // from a key to the field behind it
	size   []byte        // to the value
	scored uint64        // how many members have been given scores
}

func newRequests(keys keyspace, values values, fields *fields) requests {
	r := requests{
		keys: keys, values: values, fields: fields,
		name: []byte("\r\n$" + strconv.Itoa(fields.size) + "\r\n"),
		size: []byte("\r\n$" + strconv.Itoa(values.size) + "\r\n"),
	}
	for k := range kinds {
		r.heads[k] = r.head(k, kindTable[k].words)
	}
	return r
}

// head is the beginning of a command of some words, up to the key.
func (r *requests) head(k kind, words int) []byte {
	name := k.op()
	if k == hadd {
		name = hset.op()
	}
	between := ""
	if k == evalsha {
		between = scriptHead
	}
	return []byte("*" + strconv.Itoa(words) + "\r\n$" + strconv.Itoa(len(name)) + "\r\n" + name + "\r\n" + between + "$" + strconv.Itoa(len(r.keys.frame)) + "\r\n")
}

// append appends a command.
func (r *requests) append(dst []byte, k kind, key, field uint64) []byte {
	if k.holds() == aGroup {
		return r.appendGroup(dst, k, key)
	}
	dst = r.keys.append(append(dst, r.heads[k]...), key)
	switch k {
	case set, evalsha:
		dst = r.values.append(append(dst, r.size...), key)
	case hset, hadd, rpush, lpush, sadd, zadd:
		dst = r.appendField(dst, k, key, field)
	case zrange:
		dst = appendNumber(append(dst, '\r', '\n'), int64(field))
		dst = appendNumber(append(dst, '\r', '\n'), int64(field+rangeLength-1))
	case hget, hdel, sismember, zscore:
		dst = r.fields.append(append(dst, r.name...), field)
	case hincrby:
		dst = append(append(dst, r.name...), r.fields.counter...)
		dst = appendNumber(append(dst, '\r', '\n'), step(key))
	}
	return append(dst, '\r', '\n')
}

// appendFields appends one command of a kind that adds several fields, or elements, from the first on.
func (r *requests) appendFields(dst []byte, k kind, key, first uint64, n int) []byte {
	dst = r.keys.append(append(dst, r.head(k, 2+n*(kindTable[k].words-2))...), key)
	for i := range uint64(n) {
		dst = r.appendField(dst, k, key, first+i)
	}
	return append(dst, '\r', '\n')
}

// rangeLength is how many ranks ZRANGE asks for.
const rangeLength = 10

// Scores have at most so many digits.
const (
	scoreDigits = 6
	scores      = 1e6
)

// appendField appends what a command of a kind adds: a field and its value, an element of a list or a set, or a member behind a score, which is another one each time.
func (r *requests) appendField(dst []byte, k kind, key, field uint64) []byte {
	switch k {
	case rpush, lpush:
		return r.values.append(append(dst, r.size...), valueNumber(key, field))
	case zadd:
		r.scored++
		dst = appendNumber(append(dst, '\r', '\n'), int64(mix(valueNumber(r.scored, field))%scores))
	}
	dst = r.fields.append(append(dst, r.name...), field)
	if k == hset || k == hadd {
		dst = r.values.append(append(dst, r.size...), valueNumber(key, field))
	}
	return dst
}

// appendNumber appends a number of fewer than ten digits as a word.
func appendNumber(dst []byte, n int64) []byte {
	digits := byte('1')
	for limit := int64(10); n >= limit; limit *= 10 {
		digits++
	}
	return strconv.AppendInt(append(dst, '$', digits, '\r', '\n'), n, 10)
}

// command is a command of few words.
func command(words ...string) []byte {
	text := []byte("*" + strconv.Itoa(len(words)) + "\r\n")
	for _, word := range words {
		text = append(text, "$"+strconv.Itoa(len(word))+"\r\n"+word+"\r\n"...)
	}
	return text
}

// waitTimeout is how long WAIT waits for replicas, in milliseconds.
const waitTimeout = "1000"
