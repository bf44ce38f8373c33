package rdb

import (
	"errors"
	"fmt"
)

// What is wrong with a payload of functions behind its checksum, in Redis' words.
var (
	ErrNoFunction  = errors.New("given type is not a function")
	ErrOldFunction = errors.New("Pre-GA function format not supported")
	ErrFunction    = errors.New("failed loading the given functions payload")
)

// AppendFunctions appends the payload of FUNCTION DUMP: the codes of libraries.
func AppendFunctions(dst []byte, codes ...[]byte) []byte {
	start := len(dst)
	for _, code := range codes {
		dst = AppendItem(append(dst, opFunction), code)
	}
	return append(dst[:start], Seal(dst[start:])...)
}

// Functions returns the codes of libraries that a payload of FUNCTION DUMP has. Those that are compressed may become so many bytes together. Errors wrap ErrChecksum, ErrNoFunction,
// ErrOldFunction, ErrFunction or ErrTooLong.
func Functions(payload []byte, limit int) (codes [][]byte, err error) {
	body, err := unseal(payload)
	if err != nil {
		return nil, err
	}
	r := reader{data: body, left: limit}
	for len(r.data) > 0 {
		op, _ := r.take(1)
		switch op[0] {
		case opFunction:
		case opFunctionOld:
			return nil, ErrOldFunction
		default:
			return nil, ErrNoFunction
		}
		code, err := r.string()
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrFunction, err)
		}
		codes = append(codes, append([]byte(nil), code...))
	}
	return codes, nil
}
