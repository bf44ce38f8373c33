package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

// recording is what was measured on one kind of machine when somebody decided to keep it.
type recording struct {
	// Processor, Cores and Redis say what it can be compared with: on another processor the ratios are others, and beside another Redis, too.
	Processor string     `json:"processor"`
	Cores     int        `json:"cores"`
	Redis     string     `json:"redis"`
	Date      string     `json:"date"`
	Quoll     string     `json:"quoll"`
	Ratios    []standing `json:"ratios"`
}

// recordings are all that is kept, one for each kind of machine.
type recordings []recording

// readRecordings reads the file, which need not be there.
func readRecordings(path string) (all recordings, err error) {
	text, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&all); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return all, nil
}

// write writes the file.
func (all recordings) write(path string) error {
	text, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}

// like returns the recording that can be compared with what is measured now, if there is one.
func (all recordings) like(now recording) (recording, bool) {
	i := slices.IndexFunc(all, now.comparable)
	if i < 0 {
		return recording{}, false
	}
	return all[i], true
}

// with replaces the recording that could have been compared with this one, or adds it.
func (all recordings) with(now recording) recordings {
	return append(slices.DeleteFunc(slices.Clone(all), now.comparable), now)
}

func (r recording) comparable(other recording) bool {
	return r.Processor == other.Processor && r.Cores == other.Cores && r.Redis == other.Redis
}

func (r recording) String() string {
	return fmt.Sprintf("%s, %d cores, %s", r.Processor, r.Cores, r.Redis)
}

// recordingOf is one without ratios, of what is measured now.
func (p *plan) recordingOf(cores int) (now recording) {
	now = recording{Processor: processor(), Cores: cores, Date: p.date.UTC().Format(time.DateOnly)}
	for _, s := range p.systems {
		if s.name == redisName {
			now.Redis = withoutBuild(s.version)
		} else {
			now.Quoll = s.version
		}
	}
	return now
}

// withoutBuild leaves out of a redis-server's version how it was built: "Redis server v=7.0.15 sha=00000000:0 malloc=jemalloc-5.3.0 bits=64 build=7504b1fedf883f2".
func withoutBuild(version string) string {
	before, _, _ := strings.Cut(version, " sha=")
	return before
}
