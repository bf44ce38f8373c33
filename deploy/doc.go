// Package deploy holds what runs quoll outside a test: an image, clusters in containers (docker-compose 1.29 and
// Compose v2), and Prometheus and Grafana for them. It consists of tests, which hold these files against the
// settings and metrics that quoll has, against each other, and compose.sh against a Docker that is not there.
package deploy
