package bench

import "strconv"

// requests writes commands into a buffer.
type requests struct {
	keys     keyspace
	values   values
	set, get []byte // up to the key
	size     []byte // of the value
}

func newRequests(keys keyspace, values values) requests {
	length := strconv.Itoa(len(keys.frame))
	return requests{
		keys: keys, values: values,
		set:  []byte("*3\r\n$3\r\nSET\r\n$" + length + "\r\n"),
		get:  []byte("*2\r\n$3\r\nGET\r\n$" + length + "\r\n"),
		size: []byte("\r\n$" + strconv.Itoa(values.size) + "\r\n"),
	}
}

func (r *requests) appendSet(dst []byte, number uint64) []byte {
	dst = r.keys.append(append(dst, r.set...), number)
	dst = r.values.append(append(dst, r.size...), number)
	return append(dst, '\r', '\n')
}

func (r *requests) appendGet(dst []byte, number uint64) []byte {
	return append(r.keys.append(append(dst, r.get...), number), '\r', '\n')
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
