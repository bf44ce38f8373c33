package replica

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/node/register"
)

// TestFewBatchesAreEvaluatedAway at a time: the others wait, in the order in which they came, but for those that nobody waits for any more.
func TestFewBatchesAreEvaluatedAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var a evaluations
		all := make([]*register.Evaluation, 6)
		begun, end := make(chan *register.Evaluation, len(all)), make(chan struct{})
		for i := range all {
			all[i] = new(register.Evaluation)
			a.add(all[i], func(e *register.Evaluation) {
				begun <- e
				<-end
			})
		}
		synctest.Wait()
		require.Len(t, begun, mostAway)
		all[mostAway].Drop()
		for range mostAway {
			<-begun
		}
		end <- struct{}{}
		synctest.Wait()
		require.Len(t, begun, 1)
		require.Same(t, all[mostAway+1], <-begun)

		go a.close()
		synctest.Wait()
		require.True(t, all[mostAway+1].Dropped(), "nobody will hear of it")
		close(end)
		synctest.Wait()
		require.Empty(t, begun)
		require.Empty(t, a.running)
	})
}
