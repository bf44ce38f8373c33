//go:build !linux

package main

import "errors"

// startOn is for Linux only, if the cores matter.
func startOn(_, end int, start func() error) error {
	if end != 0 {
		return errors.New("-cores is for Linux only")
	}
	return start()
}
