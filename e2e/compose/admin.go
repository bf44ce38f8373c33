//go:build linux

package compose

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// admin closes each connection: one to a process that was killed would lead nowhere.
var admin = &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}

// ask asks the admin API, and decodes a good answer.
func (s *Service) ask(method, path string, body, into any) error {
	var sent bytes.Buffer
	if body != nil {
		if err := json.NewEncoder(&sent).Encode(body); err != nil {
			return err
		}
	}
	request, err := http.NewRequestWithContext(context.Background(), method, "http://"+s.Admin()+path, &sent)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+secret)
	response, err := admin.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s %s: %s: %s", s.Name, method, path, response.Status, strings.TrimSpace(string(text)))
	}
	if err == nil && into != nil {
		err = json.Unmarshal(text, into)
	}
	return err
}

// Ready asks the process once whether it can serve, and returns why not.
func (s *Service) Ready() (ready bool, why string) {
	if err := s.ask(http.MethodGet, "/readyz", nil, nil); err != nil {
		return false, err.Error()
	}
	return true, ""
}

// Status is the cluster as one process sees it: what /v1/status answers.
type Status struct {
	Epoch    uint64
	Formed   bool
	Warnings []string
	Nodes    []NodeStatus
}

// NodeStatus is one node in a Status.
type NodeStatus struct {
	Name, Generation, State, Reason, Full string

	Keys, Tombstones uint64
	LeadingSlots     int               `json:"leading_slots"`
	SeenBy           map[string]string `json:"seen_by"`
}

// Status asks the process how it sees the cluster.
func (s *Service) Status() (status Status, err error) {
	err = s.ask(http.MethodGet, "/v1/status", nil, &status)
	return status, err
}

// Node returns what is said of a node, or nothing.
func (s Status) Node(name string) NodeStatus {
	for _, n := range s.Nodes {
		if n.Name == name {
			return n
		}
	}
	return NodeStatus{}
}

// Healthy is empty if all is well, or else says what is not: every node votes, has room and is seen alive by every
// other one.
func (s Status) Healthy() string {
	if !s.Formed {
		return "the cluster is not formed"
	}
	for _, n := range s.Nodes {
		switch {
		case n.State != "voting":
			return fmt.Sprintf("node %s is %s: %s", n.Name, n.State, n.Reason)
		case n.Full != "":
			return fmt.Sprintf("node %s has no room: %s", n.Name, n.Full)
		}
		if len(n.SeenBy) < len(s.Nodes)-1 {
			return fmt.Sprintf("only %d nodes tell how they see %s", len(n.SeenBy), n.Name)
		}
		for by, how := range n.SeenBy {
			if how != "alive" {
				return fmt.Sprintf("%s sees %s as %s", by, n.Name, how)
			}
		}
	}
	return strings.Join(s.Warnings, "; ")
}

// AwaitHealthy waits until every process is ready and sees all nodes well, by gossip too.
func (c *Cluster) AwaitHealthy() {
	c.t.Helper()
	for _, s := range c.Services() {
		c.Await(s.Name+" sees a healthy cluster", func() (bool, string) {
			if ready, why := s.Ready(); !ready {
				return false, why
			}
			status, err := s.Status()
			if err != nil {
				return false, err.Error()
			}
			why := status.Healthy()
			return why == "", why
		})
	}
}

// Holding is what a replica holds of a key.
type Holding struct {
	Node, Error, Version, Type string
	Digest, Promised, Floor    string
	Present, Tombstone         bool
	Size                       int
	ExpireAt                   *time.Time `json:"expire_at"`
}

// Locate asks the process what the replicas hold of a key.
func (s *Service) Locate(key string) ([]Holding, error) {
	var answer struct{ Replicas []Holding }
	err := s.ask(http.MethodGet, "/v1/locate?key="+url.QueryEscape(key), nil, &answer)
	return answer.Replicas, err
}
