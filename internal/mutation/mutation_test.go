package mutation

import (
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// mutation takes a rule, or a part of one, out of the source.
type mutation struct {
	name   string
	rule   string // of protocol.md: R1 to R19, or the title of a paragraph of "What the product adds"; or some words for one that is not the protocol's
	effect string // what the code then does, in one line
	edits  []edit
	caught trial
}

// edit replaces a text that occurs once in a file.
type edit struct {
	file     string // in the module, with slashes
	old, new string
}

// trial is a test that notices a mutation.
type trial struct {
	pkg   string // in the module, with slashes
	test  string // Test or Test/subtest, as go test prints it
	says  string // a regular expression that what the failing test prints fits
	mode  string // of the simulator, or the schedule of worlds, if it is a random search
	seeds int    // that the search may need
}

// simulator is the package that searches at random.
const simulator = "node/register/sim"

// search is a trial by random search.
func search(mode string, seeds int) trial {
	return trial{pkg: simulator, test: "TestLinearizable", says: `seed \d+ (is not linearizable|breaks an invariant)`, mode: mode, seeds: seeds}
}

// worlds is a trial by whole clusters under virtual time.
func worlds(schedule string, seeds int) trial {
	return trial{pkg: world, test: "TestWorlds", says: `seed \d+ is wrong`, mode: schedule, seeds: seeds}
}

// scenario is a trial by one test, which fails and says so. It is no test of package
// rapid: those find another thing each time, and leave it in testdata.
func scenario(pkg, test, says string) trial { return trial{pkg: pkg, test: test, says: says} }

// lineage is a trial by whole clusters in which a majority has to hold a version that is not built on what a majority held before.
func lineage(schedule string, seeds int) trial {
	return trial{pkg: world, test: "TestWorlds", says: `is not built on the other`, mode: schedule, seeds: seeds}
}

// world is the package that lets whole clusters live.
const world = "e2e/world"

// The packages of scenarios.
const (
	register    = "node/register"
	node        = "node"
	execution   = "node/exec"
	membership  = "node/membership"
	consensus   = "node/consensus"
	change      = "ring/change"
	proxyRoute  = "proxy/route"
	proxyQuorum = "proxy/quorum"
	sessions    = "proxy/session"
	memory      = "node/engine/memory"
	datatype    = "node/datatype"
	parts       = "node/datatype/parts"
	disk        = "node/engine/disk"
	transfer    = "node/transfer"
	replicate   = "node/replicate"
	replicas    = "node/replica"
	repairs     = "node/repair"
	peers       = "node/peer"
	records     = "internal/record"
)

func (tr trial) String() string {
	switch {
	case tr.pkg == world:
		return fmt.Sprintf("worlds %s", tr.mode)
	case tr.mode != "":
		return fmt.Sprintf("search %s", tr.mode)
	}
	return fmt.Sprintf("%s.%s", filepath.Base(tr.pkg), tr.test)
}

// everything returns all mutations: those of the protocol's rules, and those of rules outside of it.
func everything() []mutation { return slices.Concat(table(), worldRules, consensusRules, ringRules) }

// table returns the mutations of the protocol's rules, in their order.
func table() []mutation {
	var all []mutation
	for _, part := range [][]mutation{replicaRules, homeRules, doubtRules, deletionRules, epochRules, collectRules, lifeRules, additions, hashRules, elementRules, textRules, changeRules, partsRules, batchRules, wholeRules, oneRules, placementRules, watchRules, nearestRules, waitRules, eventRules, evictionRules} {
		all = append(all, part...)
	}
	return all
}

// root is the module's folder.
var root = func() string {
	dir, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		panic(err)
	}
	return dir
}()

// apply returns the files that a mutation changes, by their path in the module.
func (m *mutation) apply() (map[string][]byte, error) {
	changed := map[string][]byte{}
	for _, e := range m.edits {
		source, ok := changed[e.file]
		if !ok {
			var err error
			if source, err = os.ReadFile(filepath.Join(root, filepath.FromSlash(e.file))); err != nil {
				return nil, err
			}
		}
		text := string(source)
		if n := strings.Count(text, e.old); n != 1 {
			return nil, fmt.Errorf("%s has %d times what mutation %s replaces, not once: the rule has moved, and internal/mutation has to follow it:\n%s",
				e.file, n, m.name, e.old)
		}
		changed[e.file] = []byte(strings.Replace(text, e.old, e.new, 1))
	}
	for file, source := range changed {
		if _, err := parser.ParseFile(token.NewFileSet(), file, source, parser.SkipObjectResolution); err != nil {
			return nil, fmt.Errorf("mutation %s: %w", m.name, err)
		}
	}
	return changed, nil
}
