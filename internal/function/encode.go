package function

import (
	"encoding/binary"
	"errors"
)

// ErrEncoding is returned for what is no description, or no library.
var ErrEncoding = errors.New("function: this is no library as it is kept; proxies and nodes may be of different versions")

// AppendDescription appends what a library registers, as a node tells a proxy.
func AppendDescription(dst []byte, functions []Function) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(functions)))
	for i := range functions {
		f := &functions[i]
		described := byte(0)
		if f.Described {
			described = 1
		}
		dst = append(appendText(dst, f.Name), byte(f.Flags), described)
		dst = appendText(dst, f.Description)
	}
	return dst
}

func appendText(dst []byte, text string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(text))), text...)
}

// ParseDescription is the reverse of AppendDescription. It returns what is behind it, too.
func ParseDescription(b []byte) (functions []Function, rest []byte, err error) {
	n, size := binary.Uvarint(b)
	if size <= 0 || n > uint64(len(b)) {
		return nil, nil, ErrEncoding
	}
	b = b[size:]
	for range n {
		var f Function
		var ok bool
		if f.Name, b, ok = cutText(b); !ok || len(b) < 2 {
			return nil, nil, ErrEncoding
		}
		f.Flags, f.Described, b = Flags(b[0]), b[1] == 1, b[2:]
		if f.Description, b, ok = cutText(b); !ok {
			return nil, nil, ErrEncoding
		}
		functions = append(functions, f)
	}
	return functions, b, nil
}

func cutText(b []byte) (text string, rest []byte, ok bool) {
	n, size := binary.Uvarint(b)
	if size <= 0 || n > uint64(len(b)-size) {
		return "", nil, false
	}
	b = b[size:]
	return string(b[:n]), b[n:], true
}

// Encode returns a library as it is kept in the cluster, under its name.
func (l *Library) Encode() []byte {
	return append(AppendDescription(make([]byte, 0, len(l.Code)+64*len(l.Functions)), l.Functions), l.Code...)
}

// Decode is the reverse of Encode. The code is a view of what is given.
func Decode(name string, kept []byte) (*Library, error) {
	functions, code, err := ParseDescription(kept)
	if err != nil {
		return nil, err
	}
	return &Library{name, code, functions}, nil
}
