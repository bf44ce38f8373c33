package main

import (
	"errors"
	"time"
)

// side is what the proxy, or all nodes together, cost for each operation.
type side struct {
	CPU    float64            `json:"cpu"`
	Stages map[string]float64 `json:"stages"`
	// Reads and Writes are system calls for each operation, ReadBytes and WrittenBytes the bytes of each of these.
	Reads        float64 `json:"reads"`
	Writes       float64 `json:"writes"`
	ReadBytes    float64 `json:"bytes_of_a_read"`
	WrittenBytes float64 `json:"bytes_of_a_write"`
	// Floor is what these calls cost by themselves.
	Floor float64 `json:"floor"`
}

// usage is what processes have used so far.
type usage struct {
	cpu           time.Duration
	reads, writes int64
	// read and written are bytes.
	read, written int64
}

// usageOf reads it. Linux counts what is read and written with read(2) and write(2), on sockets too.
func usageOf(processes []*process) (u usage, err error) {
	if u.cpu, err = cpuOf(processes); err != nil {
		return u, err
	}
	for line, field := range map[string]*int64{"syscr:": &u.reads, "syscw:": &u.writes, "rchar:": &u.read, "wchar:": &u.written} {
		if *field, err = sum(processes, "io", line); err != nil {
			return u, err
		}
	}
	return u, nil
}

// since is what was used since then for each operation, with what its system calls cost by themselves.
func (u usage) since(before usage, operations int64) (s side, err error) {
	reads, writes, each := float64(u.reads-before.reads), float64(u.writes-before.writes), float64(max(1, operations))
	s = side{
		CPU:   float64(u.cpu-before.cpu) / float64(time.Microsecond) / each,
		Reads: reads / each, Writes: writes / each, ReadBytes: float64(u.read-before.read) / max(1, reads), WrittenBytes: float64(u.written-before.written) / max(1, writes),
	}
	_, read, err := callCosts(int(s.ReadBytes))
	write, _, err2 := callCosts(int(s.WrittenBytes))
	s.Floor = (s.Reads*float64(read) + s.Writes*float64(write)) / float64(time.Microsecond)
	return s, errors.Join(err, err2)
}
