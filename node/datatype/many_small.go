//go:build small

package datatype

// manyElements is from how many elements on a read takes long, in builds with the tag small: those of e2e/world, where values have few.
const manyElements = 1
