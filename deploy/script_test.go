package deploy

import (
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/admin"
)

// fakeDocker answers as Docker does with a cluster of nothing, unless the test says otherwise. Whatever would change
// something goes to a file, calls.
const fakeDocker = `#!/bin/sh
case "$*" in
version*) echo 20.10.24 ;;
"compose version") echo v2 ;;
ps*working_dir*) printf '%s' "$MADE_IN" ;;
ps*config_files*) printf '%s' "$MADE_FROM" ;;
ps*status=running*) printf '%s' "$SERVICES" ;;
"ps --filter"*Ports*) printf '%s' "$PORTS" ;;
ps*) printf '%s' "$CONTAINERS" ;;
*exec*" b quoll ring status") echo "the table of b"; exit 3 ;;
*exec*) echo "no such thing" >&2; exit 1 ;;
"image inspect --format"*) echo sha256:tree ;;
"image inspect none:1") exit 1 ;;
"image inspect"*) ;;
inspect*Health}}{{range*) echo "health: not yet" ;;
inspect*.Image*) printf '%s' "$RUNS" ;;
inspect*) printf '%s' "$SICK" ;;
logs*) echo "the last words" ;;
*) echo "$*" >>"$CALLS" ;;
esac
`

// script runs compose.sh with a docker that is a shell script, and returns what it prints and ends with, and what
// docker was told to do. HERE in environ is the script's directory.
func script(t *testing.T, docker, action string, environ ...string) (output string, code int, calls string) {
	dir := t.TempDir()
	if docker != "" {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "docker"), []byte(docker), 0o755))
	}
	// A make that builds nothing, and no docker but the fake one.
	require.NoError(t, os.WriteFile(filepath.Join(dir, "make"), []byte("#!/bin/sh\n"), 0o755))
	for _, tool := range []string{"sh", "bash", "dirname", "basename", "sort", "head", "tail", "grep", "uname", "mktemp", "rm", "cat", "sleep", "cut", "xargs", "od", "tr", "mkdir", "chmod", "mv", "sed", "timeout"} {
		path, err := exec.LookPath(tool)
		require.NoError(t, err)
		require.NoError(t, os.Symlink(path, filepath.Join(dir, tool)))
	}
	// A copy, next to which a secret can be made.
	text, err := os.ReadFile("compose.sh")
	require.NoError(t, err)
	here, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(here, "compose.sh"), text, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(here, "compose.yaml"), []byte("volumes:\n"), 0o644))

	command := exec.Command(filepath.Join(here, "compose.sh"), action)
	command.Env = []string{"PATH=" + dir, "CALLS=" + filepath.Join(here, "calls"), "QUOLL_PORT=" + freePort(t), "QUOLL_PORT2=" + freePort(t)}
	for _, e := range environ {
		command.Env = append(command.Env, strings.ReplaceAll(e, "HERE", here))
	}
	out, _ := command.CombinedOutput()
	made, _ := os.ReadFile(filepath.Join(here, "calls"))
	return string(out), command.ProcessState.ExitCode(), string(made)
}

func freePort(t *testing.T) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	return strconv.Itoa(listener.Addr().(*net.TCPAddr).Port)
}

// fails is a docker all of whose calls print this and fail.
func fails(text string) string { return "#!/bin/sh\necho '" + text + "' >&2\nexit 1\n" }

// TestBadInput: one sentence that says what to do, before anything is touched.
func TestBadInput(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	_, port, _ := net.SplitHostPort(taken.Addr().String())
	one := "CONTAINERS=1234"
	for _, c := range []struct {
		name, docker, action string
		environ              []string
		says                 []string
	}{
		{"no action", fakeDocker, "", nil, []string{"usage:"}},
		{"no docker", "", "up", nil, []string{"not installed", "make cluster"}},
		{"no rights", fails("Got permission denied while trying to connect to the Docker daemon socket at unix:///var/run/docker.sock"), "up", nil,
			[]string{"no rights", "usermod -aG docker"}},
		{"no daemon", fails("Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?"), "status", nil,
			[]string{"not running", "systemctl start docker"}},
		{"something else", fails("error during connect: EOF"), "down", nil, []string{"does not answer: error during connect: EOF"}},
		{"no compose", "#!/bin/sh\n[ $1 = version ] && echo 1\n", "up", nil, []string{"Compose is not installed", "docker-compose-plugin"}},
		{"unknown cluster", fakeDocker, "up", []string{"CLUSTER=seven"}, []string{"CLUSTER=seven", "CLUSTER=five", "CLUSTER=memory"}},
		{"port taken", fakeDocker, "up", []string{"QUOLL_PORT=" + port}, []string{"Port " + port, "is taken", "QUOLL_PORT="}},
		{"second port taken", fakeDocker, "up", []string{"QUOLL_PORT2=" + port}, []string{"Port " + port, "is taken", "QUOLL_PORT2="}},
		{"no port", fakeDocker, "up", []string{"QUOLL_PORT=70000"}, []string{"QUOLL_PORT=70000", "from 1 to 65535"}},
		{"ports alike", fakeDocker, "up", []string{"QUOLL_PORT=7", "QUOLL_PORT2=7"}, []string{"both 7"}},
		{"no number of seconds", fakeDocker, "up", []string{"UP_TIMEOUT=soon"}, []string{"UP_TIMEOUT=soon"}},
		{"no such image", fakeDocker, "up", []string{"QUOLL_IMAGE=none:1"}, []string{"none:1 is not here", "docker pull none:1"}},
		{"monitoring of five", fakeDocker, "up", []string{"CLUSTER=five", "MONITORING=1"}, []string{"MONITORING"}},
		{"another file", fakeDocker, "up", []string{one, "MADE_IN=HERE", "MADE_FROM=HERE/compose.yaml", "CLUSTER=five"}, []string{"compose.yaml", "make down"}},
		{"another directory", fakeDocker, "down", []string{one, "MADE_IN=/elsewhere"}, []string{"/elsewhere", "QUOLL_PROJECT"}},
		{"another build", fakeDocker, "up", []string{one, "MADE_IN=HERE", "MADE_FROM=HERE/compose.yaml", "RUNS=sha256:old"}, []string{"another build", "make down"}},
		{"TLS of five", fakeDocker, "up", []string{"CLUSTER=five", "TLS=1"}, []string{"Only compose.yaml has TLS", "CLUSTER"}},
		{"TLS beside none", fakeDocker, "up", []string{one, "MADE_IN=HERE", "MADE_FROM=HERE/compose.yaml", "TLS=1"}, []string{"without TLS is up", "make down"}},
		{"nothing to grow", fakeDocker, "grow", nil, []string{"No cluster is up", "make up"}},
		{"five do not grow", fakeDocker, "grow", []string{one, "MADE_IN=HERE", "MADE_FROM=HERE/compose.five.yaml"}, []string{"compose.yaml", "make down"}},
		{"nothing up", fakeDocker, "status", nil, []string{"No cluster is up", "make up"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			output, code, calls := script(t, c.docker, c.action, c.environ...)
			require.Equal(t, 1, code, output)
			require.Equal(t, 1, strings.Count(output, "\n"), output)
			for _, text := range c.says {
				require.Contains(t, output, text)
			}
			require.Empty(t, calls)
		})
	}
}

func TestUpWaitsAndSaysWhatToTypeNext(t *testing.T) {
	output, code, calls := script(t, fakeDocker, "up")
	require.Zero(t, code, output)
	require.Contains(t, output, "redis-cli -p")
	require.Contains(t, calls, "compose --project-name quoll --file")
	require.Contains(t, calls, "up --detach")
}

// TestTLSStaysWithItsCluster: what has been started with TLS is looked at and ended with it, without being told.
func TestTLSStaysWithItsCluster(t *testing.T) {
	output, code, calls := script(t, fakeDocker, "down", "CONTAINERS=1234", "MADE_IN=HERE", "MADE_FROM=HERE/compose.yaml,HERE/compose.tls.yaml")
	require.Zero(t, code, output)
	require.Contains(t, output, "The data stays")
	require.Regexp(t, `--file \S+/compose\.yaml --file \S+/compose\.tls\.yaml --profile monitoring --profile grow down`, calls)
}

func TestUpGivesUp(t *testing.T) {
	for sick, why := range map[string]string{"/quoll_a_1": "not all are healthy after 1 s", "ends:/quoll_a_1": "ends again and again"} {
		output, code, _ := script(t, fakeDocker, "up", "CONTAINERS=1234", "MADE_IN=HERE", "MADE_FROM=HERE/compose.yaml",
			"RUNS=sha256:tree", "SICK="+sick, "UP_TIMEOUT=1")
		require.Equal(t, 1, code, output)
		for _, text := range []string{why, "The last lines of quoll_a_1:\nthe last words\nhealth: not yet\n", "make down"} {
			require.Contains(t, output, text)
		}
	}
	output, code, _ := script(t, strings.Replace(fakeDocker, "*) echo", "*) echo broken >&2; exit 1; echo", 1), "up")
	require.Equal(t, 1, code, output)
	require.Contains(t, output, "broken")
}

// TestDownKeepsTheData unless it is told not to.
func TestDownKeepsTheData(t *testing.T) {
	up := []string{"CONTAINERS=1234", "MADE_IN=HERE", "MADE_FROM=HERE/compose.yaml"}
	output, code, calls := script(t, fakeDocker, "down", up...)
	require.Zero(t, code, output)
	require.Contains(t, output, "The data stays")
	require.NotContains(t, calls, "--volumes")
	output, code, calls = script(t, fakeDocker, "down", append(up, "VOLUMES=1", "QUOLL_PROJECT=mine")...)
	require.Zero(t, code, output)
	require.Contains(t, output, "The data is gone")
	require.Contains(t, calls, "--project-name mine")
	require.Contains(t, calls, "down --volumes")
	// After a start that failed early there are no containers, but a network.
	output, code, calls = script(t, fakeDocker, "down")
	require.Zero(t, code, output)
	require.NotContains(t, calls, "--volumes")
}

// TestSecrets: random, made once, readable for the container's user and, on this machine, for its owner only.
func TestSecrets(t *testing.T) {
	here := t.TempDir()
	text, err := os.ReadFile("compose.sh")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(here, "compose.sh"), text, 0o755))
	var last string
	for range 2 {
		out, err := exec.Command(filepath.Join(here, "compose.sh"), "secret").CombinedOutput()
		require.NoError(t, err, string(out))
		secret, err := os.ReadFile(filepath.Join(here, "secrets", "quoll"))
		require.NoError(t, err)
		require.Regexp(t, "^[0-9a-f]{64}$", string(secret))
		require.True(t, last == "" || last == string(secret), "made twice")
		last = string(secret)
	}
	token, err := os.ReadFile(filepath.Join(here, "secrets", "prometheus"))
	require.NoError(t, err)
	require.Regexp(t, "^[0-9a-f]{64}$", string(token))
	require.NotEqual(t, last, string(token))
	tokens, err := os.ReadFile(filepath.Join(here, "secrets", "tokens"))
	require.NoError(t, err)
	require.Equal(t, "prometheus read "+string(token)+"\n", string(tokens))
	_, err = admin.ReadTokens(filepath.Join(here, "secrets", "tokens"), slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	for name, mode := range map[string]os.FileMode{"secrets": 0o700, "secrets/quoll": 0o444, "secrets/tokens": 0o444, "secrets/prometheus": 0o444} {
		info, err := os.Stat(filepath.Join(here, name))
		require.NoError(t, err)
		require.Equal(t, mode, info.Mode().Perm(), name)
	}
}

// TestStatusOfASickCluster: who can show it shows it, and that a node is dead is no failure of make status.
func TestStatusOfASickCluster(t *testing.T) {
	up := []string{"CONTAINERS=1234", "MADE_IN=HERE", "MADE_FROM=HERE/compose.yaml"}
	output, code, _ := script(t, fakeDocker, "status", append(up, "SERVICES=a\nproxy1\nb\nc")...)
	require.Zero(t, code, output)
	require.Contains(t, output, "\nthe table of b\n")
	require.NotContains(t, output, "no such thing")
	output, code, _ = script(t, fakeDocker, "status", append(up, "SERVICES=a\nc")...)
	require.Equal(t, 1, code)
	require.Contains(t, output, "Nothing of the cluster answers: see 'make logs'")
}

// TestEnvIsForTheShell: nothing but exports, which a shell understands.
func TestEnvIsForTheShell(t *testing.T) {
	up := []string{"CONTAINERS=1234", "MADE_IN=HERE", "MADE_FROM=HERE/compose.yaml"}
	output, code, _ := script(t, fakeDocker, "env", append(up, "SERVICES=proxy1\nb\na",
		"PORTS=6379/tcp, 7000-7001/tcp, 7001/udp, 127.0.0.1:49153->7100/tcp, 127.0.0.1:7777->6379/tcp")...)
	require.Zero(t, code, output)
	require.Regexp(t, `^export QUOLL_ADMIN=127\.0\.0\.1:49153,127\.0\.0\.1:49153
export QUOLL_SECRET_FILE='/.*/secrets/quoll'
export QUOLL_ADDR=127\.0\.0\.1:7777
$`, output)
	output, code, _ = script(t, fakeDocker, "env", append(up, "SERVICES=proxy1")...)
	require.Equal(t, 1, code)
	require.Contains(t, output, "No node of the cluster runs")
}
