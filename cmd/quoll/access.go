package main

import (
	"log/slog"

	"github.com/quolldb/quoll/internal/admin"
	"github.com/quolldb/quoll/internal/config"
)

// adminAccess is who may use the admin API of a node or a proxy.
func adminAccess(secret config.Secret, tokensFile string, log *slog.Logger) (admin.Access, error) {
	access := admin.Access{Secret: secret.Reveal(), Log: log}
	if tokensFile == "" {
		return access, nil
	}
	tokens, err := admin.ReadTokens(tokensFile, log)
	if err != nil {
		return access, config.Faults{{Field: "admin-tokens-file", Reason: err.Error()}}
	}
	access.Tokens = tokens
	return access, nil
}
