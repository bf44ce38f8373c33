//go:build !faults

package admin

import "net/http"

// faults serves nothing in this build: see faults.go for builds with the tag faults.
func (h *handler) faults(*http.ServeMux) {}
