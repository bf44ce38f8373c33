# What can be done with this tree: make help.

GOLANGCI_VERSION = v2.15.0
GOLANGCI = bin/golangci-lint-$(GOLANGCI_VERSION)
VERSION = $(shell git describe --tags --always --dirty 2>/dev/null)
COMMIT = $(shell git rev-parse HEAD 2>/dev/null)
SEEDS = 20000
FUZZTIME = 30s
CHECKS = 2000
T = 1m

.DEFAULT_GOAL := build
.PHONY: help build dev cluster test race lint fuzz sim mutants differential chaos bench cover clean

help: ## list the targets
	@sed -n 's/^\([a-z]*\):.*## /\1	/p' $(MAKEFILE_LIST) | expand -t 14

build: ## build the static binary bin/quoll
	CGO_ENABLED=0 go build -trimpath -ldflags "-X main.version=$(VERSION) -X main.commit=$(COMMIT)" -o bin/quoll ./cmd/quoll

dev: ## run a whole cluster in one process
	go run ./cmd/quoll dev

cluster: build ## run three nodes and a proxy as processes of their own
	deploy/cluster.sh

test: ## run all tests
	go test ./...

race: ## run all tests under the race detector, the end-to-end tests reduced
	go test -race -short ./...

lint: $(GOLANGCI) ## check style and find mistakes
	$(GOLANGCI) run ./...

# The first time takes some minutes.
$(GOLANGCI):
	GOBIN=$(CURDIR)/bin go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_VERSION)
	mv bin/golangci-lint $@

# Two targets at a time, each with one worker: they are many.
fuzz: | bin ## run every fuzz target for FUZZTIME (30s)
	@grep -rHoE '^func Fuzz[A-Za-z0-9_]*' --include='*_test.go' . | sed -E 's|/[^/]*:func | |' | sort | \
		xargs -P 2 -n 2 e2e/fuzz.sh $(FUZZTIME)

sim: ## check SEEDS (20000) simulated histories of the protocol under faults
	go test ./node/register/sim -run TestLinearizable -seeds $(SEEDS) -timeout 0 -v

mutants: ## take each rule of the protocol out (ONLY=name: one) and show what notices
	go test ./internal/mutation -run TestMutants -mutants -timeout 0 -v $(if $(ONLY),-only $(ONLY))

differential: ## compare replies with redis-server's, for CHECKS (2000) random sequences
	go test ./e2e/differential -run TestSameAsRedis -rapid.checks $(CHECKS) -timeout 0 -v

chaos: ## break a cluster of processes at random for T (1m) and check what clients saw
	go test ./e2e -run '^TestChaos$$' -chaos $(T) -timeout 0 -v

bench: build ## compare with the redis-server of this machine
	e2e/bench.sh

bin:
	mkdir -p bin

cover: ## show which code the tests run
	mkdir -p bin
	go test -short -coverpkg ./... -coverprofile bin/cover.out ./...
	go tool cover -func bin/cover.out | tail -n 1
	go tool cover -html bin/cover.out -o bin/cover.html

clean: ## remove what was built
	rm -rf bin
