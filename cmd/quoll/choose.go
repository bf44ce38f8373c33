package main

import (
	"context"
	"fmt"

	"github.com/quolldb/quoll/internal/admin"
	"github.com/quolldb/quoll/internal/config"
)

// choose returns a client of the first admin API that answers, and says which ones did not. The caller closes it.
func (a *app) choose(ctx context.Context, cfg config.Client) (*admin.Client, error) {
	secure, err := clientTLS(cfg)
	if err != nil {
		return nil, err
	}
	client, silent, err := admin.Choose(ctx, cfg.Admin, cfg.Secret.Reveal(), secure)
	if err != nil {
		return nil, err
	}
	for _, why := range silent {
		fmt.Fprintf(a.stderr, "quoll: %s; another one is asked\n", printable(why))
	}
	return client, nil
}
