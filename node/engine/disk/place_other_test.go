//go:build !linux

package disk_test

// memoryFileSystem returns "": which file systems are in memory is not known.
func memoryFileSystem(uint64) string { return "" }
