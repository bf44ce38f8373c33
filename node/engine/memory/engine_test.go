package memory_test

import (
	"testing"

	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/engine/enginetest"
	"github.com/quolldb/quoll/node/engine/memory"
)

func TestConformance(t *testing.T) {
	enginetest.Run(t, func(*testing.T) engine.Engine { return memory.New() })
}
