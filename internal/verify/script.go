package verify

import "context"

// transferScript does what byMulti does with amounts, as one script. Its keys are the account that gets the amount, the one that gives it, and the number of the series.
const transferScript = `local before = redis.call('GET', KEYS[3])
redis.call('INCRBY', KEYS[1], ARGV[1])
redis.call('DECRBY', KEYS[2], ARGV[1])
redis.call('SET', KEYS[3], ARGV[2])
return before`

// byScript moves an amount from one account to another one by EVAL.
func (b *bank) byScript(ctx context.Context, address int, g *group) (moved bool, err error) {
	return b.numbered(g, func(number string, n int64, t transfer) (answer, bool, error) {
		before, err := b.run.do(ctx, address, "EVAL", transferScript, 3, g.accounts[t.to], g.accounts[t.from], number, t.amount, n)
		return before, err == nil, err
	})
}
