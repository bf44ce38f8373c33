package admin

import (
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
)

// A web page can make the browser of somebody who may reach this port send requests to it, and with a name that it makes
// point here (DNS rebinding) read the answers. With a secret that is harmless: no page knows it. Without
// one three things keep pages out: the name that a request is for must be one that nobody else can own; a request that says
// that it comes from another site is refused; and what changes something or hands out data wants a header that
// a page cannot send without asking first, which is never granted.

// DeliberateHeader is the header that calls which change something or hand out data want of those who
// have no secret. Its value does not matter.
const DeliberateHeader = "X-Quoll"

// noBrowsers keeps web pages out.
func (h *handler) noBrowsers(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Cross-Origin-Resource-Policy", "same-origin")
		header.Set("Cache-Control", "no-store")
		if r.URL.Path == "/healthz" || r.URL.Path == "/readyz" { // they tell and change nothing
			next.ServeHTTP(w, r)
			return
		}
		switch {
		case fromElsewhere(r):
			fail(w, http.StatusForbidden, "requests of web pages are refused; use quoll's commands, or a program that is no browser")
		case h.access.open() && !ownName(r.Host):
			fail(w, http.StatusForbidden, "a name that others could own is refused as long as there is no secret: use the address of this machine, or start this process with --secret-file")
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// fromElsewhere reports whether a browser says that a page of another origin sends the request.
func fromElsewhere(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "none", "same-origin":
	default:
		return true
	}
	origin := r.Header.Get("Origin")
	if origin == "" {
		return false
	}
	u, err := url.Parse(origin)
	return err != nil || u.Host != r.Host
}

// ownName reports whether the name that a request is for is an address, or a name that nobody can register: without a dot, or
// this machine's.
func ownName(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
	if net.ParseIP(host) != nil || !strings.Contains(host, ".") || strings.HasSuffix(host, ".localhost") {
		return true
	}
	self, err := os.Hostname()
	return err == nil && strings.EqualFold(host, self)
}
