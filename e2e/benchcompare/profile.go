package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// profile asks a process for a CPU profile of some seconds, at an admin address, and keeps it in a file.
func (s *site) profile(ctx context.Context, admin string, seconds int) (path string, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://%s/debug/pprof/profile?seconds=%d", admin, seconds), nil)
	if err != nil {
		return "", err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return "", fmt.Errorf("profile of %s: %s", admin, response.Status)
	}
	file, err := os.Create(filepath.Join(s.dir, "profile-"+portOf(admin)))
	if err != nil {
		return "", err
	}
	_, err = io.Copy(file, response.Body)
	return file.Name(), errors.Join(err, file.Close())
}

// shares returns which share of the CPU time of all profiles together each stage has. The profiles are read by `go tool pprof`, so that there is no library for it among the dependencies.
func shares(ctx context.Context, profiles []string) (map[string]float64, error) {
	out, err := exec.CommandContext(ctx, "go", append([]string{"tool", "pprof", "-traces", "-unit=ms", "-symbolize=none"}, profiles...)...).Output()
	if err != nil {
		return nil, fmt.Errorf("go tool pprof: %w", err)
	}
	return sharesOf(string(out))
}

// sharesOf reads what pprof writes: after each line of dashes a time, the innermost function, and below it, a line each, those that called it.
func sharesOf(traces string) (map[string]float64, error) {
	spent, all := map[string]float64{}, 0.0
	_, traces, _ = strings.Cut(traces, "\n-----")
	for _, trace := range strings.Split(traces, "\n-----") {
		_, trace, _ = strings.Cut(trace, "\n") // the rest of the dashes
		var stack []string
		var millis float64
		for line := range strings.Lines(trace) {
			words := strings.Fields(line)
			if text, isTime := strings.CutSuffix(first(words), "ms"); isTime && stack == nil && len(words) > 1 {
				ms, err := strconv.ParseFloat(text, 64)
				if err != nil {
					return nil, fmt.Errorf("pprof wrote %q", line)
				}
				millis, words = ms, words[1:]
			}
			if millis > 0 && len(words) > 0 {
				stack = append(stack, words[0])
			}
		}
		spent[stageOf(stack)] += millis
		all += millis
	}
	if all == 0 {
		return nil, errors.New("the profiles are empty")
	}
	for stage := range spent {
		spent[stage] /= all
	}
	return spent, nil
}

func first(words []string) string {
	if len(words) == 0 {
		return ""
	}
	return words[0]
}

// gathered is what profileAll has got: the file of each admin address.
type gathered struct {
	paths  map[string]string
	failed []error
}

func (g gathered) of(admins []string) (paths []string) {
	for _, admin := range admins {
		paths = append(paths, g.paths[admin])
	}
	return paths
}

// profileAll profiles all processes, a little shorter than clients work, and returns what waits for that.
func (r *running) profileAll(ctx context.Context, admins []string) func() gathered {
	all, mutex, done := gathered{paths: map[string]string{}}, sync.Mutex{}, sync.WaitGroup{}
	seconds := max(1, int(r.duration/time.Second))
	for _, admin := range admins {
		done.Go(func() {
			path, err := r.profile(ctx, admin, seconds)
			mutex.Lock()
			defer mutex.Unlock()
			if all.paths[admin] = path; err != nil {
				all.failed = append(all.failed, err)
			}
		})
	}
	return func() gathered {
		done.Wait()
		return all
	}
}
