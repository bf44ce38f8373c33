package main

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"
)

// The exit codes, as the help text documents them.
const (
	exitOK        = 0
	exitFailure   = 1
	exitUsage     = 2
	exitUnhealthy = 3
)

// errUnhealthy ends `ring status` with its own code. What is wrong has been printed.
type errUnhealthy struct{}

func (errUnhealthy) Error() string { return "the cluster is not healthy" }

// errUnfinished ends commands that wait for the ring, or copy, with the same code, and says what has not ended in time, or was left out.
type errUnfinished string

func (e errUnfinished) Error() string { return string(e) }

// explain says an error in one plain sentence with what to do about it, as far as it
// is one of those that everybody meets.
func explain(err error) string {
	var op *net.OpError
	where := "the address"
	if errors.As(err, &op) && op.Addr != nil {
		where = op.Addr.String()
	}
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Sprintf("cannot listen on %s: it is in use, maybe by another quoll or a redis-server; stop that one or choose another address", where)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return fmt.Sprintf("cannot listen on %s: it is not an address of this machine", where)
	case errors.As(err, &op) && op.Op == "listen" && errors.Is(err, syscall.EACCES):
		return fmt.Sprintf("cannot listen on %s: not permitted; choose a port above 1023 or allow this one", where)
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return "too many open files: raise the limit (ulimit -n, or LimitNOFILE= in systemd): " + firstLine(err.Error())
	case errors.Is(err, syscall.ENOSPC):
		return "the disk is full: free some space and start again: " + firstLine(err.Error())
	}
	return strings.ReplaceAll(err.Error(), "\n", "; ")
}

// firstLine drops the suggestions that cobra appends to an error.
func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}
