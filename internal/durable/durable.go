// Package durable has what files need, beside being written, to outlive a power cut.
package durable

import "os"

// Sync makes durable the contents of a file, or the entries of a directory: which names there
// are, and for which files. It blocks until the disk has them. After an error nobody knows what the
// disk has.
func Sync(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	return file.Sync()
}
