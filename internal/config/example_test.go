package config_test

import (
	"fmt"

	"github.com/spf13/pflag"

	"github.com/quolldb/quoll/internal/config"
)

// A flag wins over a variable, a variable over the default. A name that nothing reads is an error.
func ExampleLoad() {
	load := func(args, environ []string) {
		cfg := config.DefaultProxy()
		flags := pflag.NewFlagSet("proxy", pflag.ContinueOnError)
		cfg.Bind(flags)
		if err := flags.Parse(args); err != nil {
			panic(err)
		}
		err := config.Load(&cfg, flags, environ)
		fmt.Println(cfg.MaxClients, cfg.MaxBulk, err)
	}
	node := "QUOLL_NODES=127.0.0.1:7000"
	load([]string{"--max-clients=20"}, []string{node, "QUOLL_MAX_CLIENTS=10", "QUOLL_MAX_BULK=1mb"})
	load(nil, []string{node, "QUOLL_MAX_CLIENT=10"})
	// Output:
	// 20 1MiB <nil>
	// 10000 64MiB QUOLL_MAX_CLIENT: no such environment variable is known to quoll; did you mean QUOLL_MAX_CLIENTS?
}
