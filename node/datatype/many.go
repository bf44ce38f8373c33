//go:build !small

package datatype

// manyElements is from how many elements on a read takes long: about half a millisecond.
const manyElements = 8192
