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
}

func newRequests(keys keyspace, values values, fields *fields) requests {
	r := requests{
		keys: keys, values: values, fields: fields,
		name: []byte("\r\n$" + strconv.Itoa(fields.size) + "\r\n"),
		size: []byte("\r\n$" + strconv.Itoa(values.size) + "\r\n"),
	}
	for k, words := range [kinds]int{set: 3, get: 2, hset: 4, hget: 3, hgetall: 2, hincrby: 4, hdel: 3, hadd: 4} {
		r.heads[k] = r.head(kind(k), words)
	}
	return r
}

// head is the beginning of a command of some words, up to the key.
func (r *requests) head(k kind, words int) []byte {
	name := k.op()
	if k == hadd {
		name = hset.op()
	}
	return []byte("*" + strconv.Itoa(words) + "\r\n$" + strconv.Itoa(len(name)) + "\r\n" + name + "\r\n$" + strconv.Itoa(len(r.keys.frame)) + "\r\n")
}

// append appends a command.
func (r *requests) append(dst []byte, k kind, key, field uint64) []byte {
	dst = r.keys.append(append(dst, r.heads[k]...), key)
	switch k {
	case set:
		dst = r.values.append(append(dst, r.size...), key)
	case hset, hadd:
		dst = r.appendPair(dst, key, field)
	case hget, hdel:
		dst = r.fields.append(append(dst, r.name...), field)
	case hincrby:
		dst = append(append(dst, r.name...), r.fields.counter...)
		dst = appendNumber(append(dst, '\r', '\n'), step(key))
	}
	return append(dst, '\r', '\n')
}

// appendFields appends one HSET of several fields, from the first on.
func (r *requests) appendFields(dst []byte, key, first uint64, n int) []byte {
	dst = r.keys.append(append(dst, r.head(hset, 2+2*n)...), key)
	for i := range uint64(n) {
		dst = r.appendPair(dst, key, first+i)
	}
	return append(dst, '\r', '\n')
}

// appendPair appends a field and its value.
func (r *requests) appendPair(dst []byte, key, field uint64) []byte {
	dst = r.fields.append(append(dst, r.name...), field)
	return r.values.append(append(dst, r.size...), valueNumber(key, field))
}

// appendNumber appends a number of at most four digits as a word.
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
