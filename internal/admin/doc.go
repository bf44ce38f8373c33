// Package admin is the HTTP API that nodes and proxies serve to operators, and its
// client, which `quoll ring` uses.
//
//	GET /healthz              200 while the process lives
//	GET /readyz               200, or 503 with the reason until it can serve
//	GET /metrics              for Prometheus
//	GET /v1/status            Status as JSON
//	GET /v1/locate?key=KEY    Location as JSON; key64=BASE64URL for a key of any bytes
//	GET /v1/backup            a node's backup; rate=BYTES bounds the bytes each second
//	GET /v1/ring...           the ring, and POST to change it: see ring.go
//
// When the cluster has a secret, /v1/ asks for it: "Authorization: Bearer SECRET".
// Errors of /v1/ are JSON: {"error": "..."}.
package admin
