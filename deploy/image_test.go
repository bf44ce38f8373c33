package deploy

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// instructions are a Dockerfile's from its last FROM on, without comments.
func instructions(t *testing.T, name string) []string {
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	_, last, found := strings.Cut(string(text), "\nFROM scratch\n")
	require.True(t, found, name)
	joined := strings.ReplaceAll(regexp.MustCompile(`(?m)^#.*\n`).ReplaceAllString(last, ""), "\\\n", "")
	var lines []string
	for line := range strings.Lines(joined) {
		if fields := strings.Fields(line); len(fields) > 0 {
			lines = append(lines, strings.Join(fields, " "))
		}
	}
	return lines
}

// TestBothDockerfilesMakeTheSameImage: they differ only in where the binary comes from.
func TestBothDockerfilesMakeTheSameImage(t *testing.T) {
	here, inside := instructions(t, "Dockerfile"), instructions(t, "Dockerfile.build")
	require.Equal(t, []string{"ARG BINARY=bin/quoll", "COPY ${BINARY} /usr/local/bin/quoll"}, here[:2])
	require.Equal(t, "COPY --from=build /quoll /usr/local/bin/quoll", inside[0])
	require.Equal(t, here[2:], inside[1:])
	require.Contains(t, inside, "USER 65532:65532")
	require.Contains(t, inside, `ENTRYPOINT ["/usr/local/bin/quoll"]`)
}

// TestImagesAreCompiledAlike: the flags of make build, of Dockerfile.build and of releases.
func TestImagesAreCompiledAlike(t *testing.T) {
	flags := regexp.MustCompile(`go build ([^"]*"[^"]*")`)
	of := func(name string) string {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		found := flags.FindStringSubmatch(strings.ReplaceAll(string(text), "\\\n", " "))
		require.NotNil(t, found, name)
		return strings.NewReplacer("(", "", ")", "").Replace(strings.Join(strings.Fields(found[1]), " "))
	}
	require.Equal(t, of("../Makefile"), of("Dockerfile.build"))
	require.Equal(t, of("../Makefile"), strings.NewReplacer("version=$version", "version=$VERSION", "commit=$commit", "commit=$COMMIT").Replace(of("release.sh")))
}
