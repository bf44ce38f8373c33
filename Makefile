# What can be done with this tree: make help.

# What runs tests: .ci/run takes .ci/gotest, which tells a test that is flaky from one that fails.
GOTEST = go test
GOLANGCI_VERSION = v2.15.0
GOLANGCI = bin/golangci-lint-$(GOLANGCI_VERSION)
VERSION = $(shell git describe --tags --always --dirty 2>/dev/null)
COMMIT = $(shell git rev-parse HEAD 2>/dev/null)
IMAGE = quoll:$(or $(VERSION),unknown)
SEEDS = 20000
FUZZTIME = 30s
CHECKS = 2000
T = 1m
TRIALS = 5
N = 100000
HUNG = 20s
KEYS = 1000000
HASHES = 100000
MIB = 1024
SECONDS = 10
ROUNDS = 3
OUT = bin/bench-compare
# The end-to-end tests whose processes the race detector looks at: commands, scans, faults, backups, the end of processes.
RACED = TestGoRedis|TestScanWhileKeysAreWritten|TestHScanWhileHomesDie|TestOneNodeIsKilledUnderLoad|TestTwoOfThreeNodesHangAndGoOn|TestBackupsOfSeveralNodes|TestInterruptStopsEverythingInOrder|TestClientsThatDoNotWait

.DEFAULT_GOAL := build
.PHONY: compatibility redis-suite churn queue-chaos hostile replan help build image release up down grow shrink logs status env dev cluster test test-all race lint fuzz sim world mutants differential chaos crash converge powercut e2e soak bench bench-exec bench-evict bench-compare bench-scale bench-hash bench-types bench-messages bench-guard bench-budget bench-cores bench-disk bench-repair bench-waiting bench-long-replies bench-move bench-large-hash profile libraries cover clean

help: ## list the targets
	@sed -n 's/^\([a-z0-9-]*\):.*## /\1	/p' $(MAKEFILE_LIST) | expand -t 14

build: ## build the static binary bin/quoll
	@[ -e bin/quoll ] || echo "Building bin/quoll. The first time all dependencies are fetched and compiled: that takes a minute or two."
	@CGO_ENABLED=0 go build -trimpath -ldflags "-X main.version=$(VERSION) -X main.commit=$(COMMIT)" -o bin/quoll ./cmd/quoll

image: build ## build the container image quoll:VERSION from bin/quoll
	@docker build --quiet --file deploy/Dockerfile --build-arg VERSION=$(VERSION) --build-arg COMMIT=$(COMMIT) --tag $(IMAGE) --tag quoll:latest . >bin/image.log 2>&1 || { cat bin/image.log >&2; exit 1; }
	@echo "Built the image $(IMAGE)."

release: ## build archives, checksums and the image of VERSION=v0.1.0 into bin/release
	@VERSION=$(VERSION) deploy/release.sh

up: ## start a cluster in containers (CLUSTER=five|memory: another one; TLS=1: with TLS) and wait until it is healthy
	@IMAGE=$(IMAGE) deploy/compose.sh up

down: ## end it and keep its data (VOLUMES=1: remove it)
	@deploy/compose.sh down

grow: ## add a fourth node to it, and wait until that holds its share
	@IMAGE=$(IMAGE) deploy/compose.sh grow

shrink: ## let that node leave again, and remove it
	@deploy/compose.sh shrink

logs: ## show what its containers logged last (FOLLOW=1: and go on)
	@deploy/compose.sh logs

status: ## show its containers and its nodes
	@deploy/compose.sh status

env: ## print the variables with which bin/quoll asks that cluster, for eval
	@deploy/compose.sh env

dev: ## run a whole cluster in one process
	@$(MAKE) --no-print-directory build
	@bin/quoll dev

cluster: build ## run three nodes and a proxy as processes of their own
	deploy/cluster.sh

# The profile (cmd/quoll/default.pgo) is for binaries: with it tests of cmd/quoll would compile all dependencies once more. What takes longest comes first.
# Many tests wait most of the time, so more packages are tested at a time than there are processors. What vet finds lint does.
test: ## run the tests that take less than four minutes
	$(GOTEST) -pgo=off -vet=off -short -p 3 ./e2e ./node/engine/disk ./...

# The tests that take longest come first, or they would be alone in the end: those of a package's engines run one after the other. Those that load clusters have the machine
# to themselves: beside others they would measure these.
test-all: ## run all tests
	$(GOTEST) -pgo=off -timeout 30m ./node/engine/disk ./node $$(go list ./... | grep -v quoll/e2e)
	$(GOTEST) -pgo=off -timeout 30m -p 1 ./e2e/...

# The processes of the end-to-end tests are under the race detector, too; only some of these tests are run.
race: ## run all tests under the race detector, of the end-to-end tests some
	$(GOTEST) -race -pgo=off -short -timeout 30m $(filter-out %/quoll/e2e,$(or $(PACKAGES),$(shell go list ./...)))
	go build -race -pgo=off -o bin/quoll-race ./cmd/quoll
	E2E_BINARY=$(CURDIR)/bin/quoll-race $(GOTEST) -race -pgo=off -short -timeout 30m -run '^($(RACED))$$' ./e2e

lint: $(GOLANGCI) ## check style and find mistakes
	$(GOLANGCI) run ./...
	cd e2e/libraries && $(CURDIR)/$(GOLANGCI) run ./...

# The first time takes some minutes.
$(GOLANGCI):
	GOBIN=$(CURDIR)/bin go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_VERSION)
	mv bin/golangci-lint $@

# Two targets at a time, each with one worker: they are many.
fuzz: | bin ## run every fuzz target for FUZZTIME (30s) (SEED=n: a sixth of them)
	@grep -rHoE '^func Fuzz[A-Za-z0-9_]*' --include='*_test.go' . | sed -E 's|/[^/]*:func | |' | sort | \
		$(if $(SEED),awk -v seed=$(SEED) 'BEGIN { srand(seed) } rand() < 0.17' |) xargs -P 2 -n 2 e2e/fuzz.sh $(FUZZTIME)

sim: ## check SEEDS (20000) simulated histories of the protocol under faults (SEED=n: those from seed n on)
	go test ./node/register/sim -run TestLinearizable -seeds $(SEEDS) $(if $(SEED),-seed $(SEED)) -timeout 0 -v

replan: ## plan 1,000 random sequences of ring changes, and compare what moves with the least possible (SEED=n: from seed n on)
	go test ./ring -run 'TestReplan$$' -replan.sequences 1000 $(if $(SEED),-replan.seed $(SEED)) -timeout 0 -v

world: ## let SEEDS (20000) clusters live under virtual time, on networks and disks that misbehave (SEED=n: those from seed n on; ONLY=schedule; SHRINK=1: make what fails of seed n smaller)
	@go test -c -tags worldlocks,small -ldflags=-checklinkname=0 -o bin/world.test ./e2e/world
	@e2e/world/run.sh $(if $(SHRINK),1,$(SEEDS)) $(or $(SEED),1) $(if $(ONLY),-schedule $(ONLY)) $(if $(TRACE),-trace) $(if $(PLAN),-plan '$(PLAN)') $(if $(SHRINK),-shrink)

mutants: ## take each rule of the protocol out (ONLY=name: one; SAMPLE=n SEED=n: some) and show what notices
	go test ./internal/mutation -run TestMutants -mutants -timeout 0 -v $(if $(ONLY),-only $(ONLY)) $(if $(SAMPLE),-sample $(SAMPLE)) $(if $(SEED),-sample-seed $(SEED))

differential: ## compare replies with redis-server's, for CHECKS (2000) random sequences (SEED=n: the same ones again)
	go test ./e2e/differential -run TestSameAsRedis -rapid.checks $(CHECKS) $(if $(SEED),-rapid.seed $(SEED)) -timeout 0 -v

compatibility: ## write COMPATIBILITY.md, which is made of the table of commands
	go test ./internal/command -run TestCompatibilityPage -command.page

redis-suite: ## run Redis' own test suite on Quoll (UNIT=unit/type/list: one unit; TOGETHER=1: with databases that are placed together); fetches the source of redis-server, and needs tclsh
	e2e/redissuite/fetch.sh $(CURDIR)/bin/redis-source
	go test ./e2e/redissuite -redis-source $(CURDIR)/bin/redis-source $(if $(UNIT),-unit $(UNIT)) $(if $(TOGETHER),-together) -count 1 -timeout 0 -v

# A module of its own, so that the libraries are no dependencies of Quoll's.
libraries: ## test with client libraries: what they repeat by themselves, whether they get along (those in Debian: if installed)
	cd e2e/libraries && go vet ./... && $(GOTEST) -count 1 -timeout 5m -v ./...

churn: ## change the ring of a cluster of processes for T (1m) while it is broken, and check what clients saw (SEED=n: the same changes and faults again)
	go test ./e2e -run '^TestChurn$$' -churn $(T) $(if $(SEED),-churn-seed $(SEED)) -timeout 0 -v

queue-chaos: ## produce and consume for T (1m) while a cluster of processes is broken and its ring changes, and check what was handed out (SEED=n: the same faults again)
	go test ./e2e -run '^TestQueueChaos$$' -queue-chaos $(T) $(if $(SEED),-queue-chaos-seed $(SEED)) -timeout 0 -v

chaos: ## break a cluster of processes at random for T (1m) and check what clients saw (SEED=n: the same faults again; QUOLL_TLS=1: with TLS, certificates that are replaced meanwhile, and users)
	go test ./e2e -run '^TestChaos$$' -chaos $(T) $(if $(SEED),-chaos-seed $(SEED)) -timeout 0 -v

hostile: ## attack a cluster of processes in all ways at once for T (1m), beside somebody who works (SEED=n: the same attacks again)
	go test ./e2e -run '^TestHostile$$' -hostile $(T) $(if $(SEED),-hostile-seed $(SEED)) -timeout 0 -v

crash: ## kill -9 all nodes of clusters on disk for T (1m), again and again, and check that nothing is lost (SEED=n: at the same moments)
	go test ./e2e -run '^TestCrashAll$$' -crash $(T) $(if $(SEED),-crash-seed $(SEED)) -timeout 0 -v

converge: ## have a node miss N (100000) commands, and hang for HUNG (20s) under load, and check that it catches up, and what it costs
	go test ./e2e -run '^(TestConverge|TestHungReplicaCostsBoundedMemory)$$' -converge $(N) -hung $(HUNG) -timeout 0 -v

bench-repair: ## measure what clients notice while N (100000) keys are repaired, and what comparing replicas costs
	go test ./e2e -run '^TestRepairCost$$' -repair-cost $(N) -timeout 0 -v

bench-waiting: ## measure what WAITING (15000) clients cost that wait with BLPOP: memory, idle CPU, latency of others (a process may have as many files open: ulimit -n)
	go test ./e2e -run '^TestManyClientsWait$$' -waiting $(or $(WAITING),15000) -timeout 0 -v | grep -v level=

bench-long-replies: ## measure how long others wait while somebody reads a list of LENGTH (1000000) elements again and again, beside redis-server
	go test ./e2e -run '^TestLongRepliesCost$$' -long-replies $(or $(LENGTH),1000000) -timeout 0 -v | grep -v level=

bench-move: ## measure what clients notice while a node joins that holds N (100000) keys of 1 KiB, and how long that takes (PROFILES=dir: CPU profiles of the nodes, too)
	go test ./e2e -run '^TestMoveCost$$' -move-cost $(N) $(if $(PROFILES),-move-profiles $(abspath $(PROFILES))) -timeout 0 -v

bench-large-hash: ## measure how much memory it takes beside the hash to repair one of MIB (1024)
	go test ./node -run '^TestALargeHashIsRepairedInPieces$$' -large-hash $(MIB) -count 1 -timeout 0 -v

profile: build ## make the profile anew that bin/quoll is optimized by (cmd/quoll/default.pgo)
	e2e/profile.sh

powercut: ## take the power from disks under load, TRIALS (5) times, and look for what was acknowledged (needs root and loop mounts)
	go test ./e2e/powercut -powercut -trials $(TRIALS) -timeout 0 -v

# The long partition alone takes ten minutes. What is kept of each test is in bin/e2e.
e2e: ## break clusters of containers (ONLY=TestName: in one way; SHORT=1: a few; SEED=n: a sample), and check what clients see (needs Docker and root)
	go test ./e2e/scenarios -docker $(if $(SHORT),-short) $(if $(SEED),-sample $(SEED)) -run '$(if $(ONLY),^$(ONLY)$$,.)' -timeout 0 -count 1 -v

soak: ## break a cluster of containers at random for T (1m), and watch what must never happen (needs Docker and root)
	go test ./e2e/scenarios -docker -run '^TestSoak$$' -soak $(T) -timeout 0 -count 1 -v

bench-disk: build ## measure nodes on disk beside a redis-server and beside nodes in memory, each for SECONDS (10), ROUNDS (3): tables in OUT, and in PAGE, if that is given
	go build -o bin/benchcompare ./e2e/benchcompare
	bin/benchcompare -disk -keys $(KEYS) -seconds $(SECONDS) -rounds $(ROUNDS) -depths 1,16 -out $(OUT) $(if $(PAGE),-page $(PAGE)) $(FLAGS)

bench: build ## compare with the redis-server of this machine
	e2e/bench.sh

bench-exec: build ## compare transactions, and MSETs, of three keys of one slot, and a script of one key beside SET, with the redis-server of this machine (DEPTH=16: in pipelines)
	COMMANDS=exec,mset DEPTH=$(or $(DEPTH),1) e2e/bench.sh
	COMMANDS=evalsha,set DEPTH=$(or $(DEPTH),1) e2e/bench.sh

bench-evict: build ## measure SETs of new keys when memory is full and each evicts a key, beside the same without a limit: throughput and CPU time, with the ratio
	e2e/bench-evict.sh

bench-compare: build ## compare with what else is installed, KEYS (1000000), SECONDS (10), ROUNDS (3): table and plots in OUT (bin/bench-compare), and in PAGE (docs/performance.md), if that is given
	go build -o bin/benchcompare ./e2e/benchcompare
	bin/benchcompare -keys $(KEYS) -seconds $(SECONDS) -rounds $(ROUNDS) -out $(OUT) $(if $(PAGE),-page $(PAGE)) $(FLAGS)

bench-scale: build ## measure as the number of keys, of connections, of nodes, or the size of values grows, each for SECONDS (10): tables and plots in OUT, and in PAGE, if that is given
	go build -o bin/benchcompare ./e2e/benchcompare
	bin/benchcompare -scale -keys $(KEYS) -seconds $(SECONDS) -out $(OUT) $(if $(PAGE),-page $(PAGE)) $(FLAGS)

bench-hash: build ## measure HASHES (100000) small hashes beside strings, and one field of hashes of up to 10^6, each for SECONDS (10), ROUNDS (3): tables in OUT
	go build -o bin/benchcompare ./e2e/benchcompare
	bin/benchcompare -hash -keys $(HASHES) -seconds $(SECONDS) -rounds $(ROUNDS) -out $(OUT) $(FLAGS)

bench-types: build ## measure HASHES (100000) small lists, sets and sorted sets and large ones of 10^6, each for SECONDS (10), ROUNDS (3), and memory of 10^7 elements: tables in OUT
	go build -o bin/benchcompare ./e2e/benchcompare
	bin/benchcompare -types -keys $(HASHES) -seconds $(SECONDS) -rounds $(ROUNDS) -depths 1,16 -out $(OUT) $(FLAGS)

bench-messages: build ## measure PUBLISH, hand-overs by BLPOP and streams beside SET each for SECONDS (10), ROUNDS (3): tables in OUT
	go build -o bin/benchcompare ./e2e/benchcompare
	bin/benchcompare -messages -keys 10000 -seconds $(SECONDS) -rounds $(ROUNDS) -depths 1,16 -out $(OUT) $(FLAGS)

bench-guard: build ## fail if SET or GET cost a tenth more CPU time, beside a redis-server's, than is recorded (RECORD=1: record it anew)
	go build -o bin/benchcompare ./e2e/benchcompare
	bin/benchcompare -guard $(if $(RECORD),-record)

bench-budget: build ## write into docs/performance.md where the CPU time of SET and GET goes, by stage; each for SECONDS (10)
	go build -o bin/benchcompare ./e2e/benchcompare
	bin/benchcompare -budget -keys $(KEYS) -seconds $(SECONDS) -out $(OUT) -depths 1,16 -page $(or $(PAGE),docs/performance.md) $(FLAGS)

bench-cores: build ## measure SET and GET while the servers may use one core, two, four and so on, each for SECONDS (10), and compute how many a proxy keeps busy: tables in OUT, and in PAGE, if that is given
	go build -o bin/benchcompare ./e2e/benchcompare
	bin/benchcompare -cores -keys $(KEYS) -seconds $(SECONDS) -out $(OUT) -depths 1,16 $(if $(PAGE),-page $(PAGE)) $(FLAGS)

bin:
	mkdir -p bin

cover: ## show which code the tests run
	mkdir -p bin
	go test -short -coverpkg ./... -coverprofile bin/cover.out ./...
	go tool cover -func bin/cover.out | tail -n 1
	go tool cover -html bin/cover.out -o bin/cover.html

clean: ## remove what was built
	rm -rf bin
