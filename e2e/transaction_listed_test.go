package e2e

import (
	"fmt"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/e2e/cluster"
)

// TestWhatATransactionHasWrittenIsListed at once: the answer comes before the keys are written, each by itself.
func TestWhatATransactionHasWrittenIsListed(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Config{Nodes: 3, Proxies: 1})
	client := connect(t, c.Proxies[0].Client)
	ctx := t.Context()
	for i := range 400 {
		_, err := client.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
			pipe.Set(ctx, fmt.Sprintf("{%d}a", i), i, 0)
			pipe.Set(ctx, fmt.Sprintf("{%d}b", i), i, 0)
			return nil
		})
		require.NoError(t, err)
		if i%2 == 0 {
			require.EqualValues(t, 2*i+2, client.DBSize(ctx).Val())
			continue
		}
		require.Len(t, client.Keys(ctx, fmt.Sprintf("{%d}*", i)).Val(), 2)
	}
}
