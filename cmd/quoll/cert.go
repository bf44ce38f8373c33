package main

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/quolldb/quoll/internal/certs"
	"github.com/quolldb/quoll/internal/config"
)

const day = 24 * time.Hour

func (a *app) certCommand() *cobra.Command {
	command := &cobra.Command{
		Use:   "cert",
		Short: "Make certificates for a cluster: a small CA, for those who have none",
		Long: `Cert makes a certificate authority in a directory, and certificates by it, for TLS between
the nodes and proxies of a cluster, and with its clients. Keys are ECDSA P-256, in files that
only their owner can read. Nothing is overwritten.

Copy to each machine ca.crt and the files of its own, and give that directory with
--certs-dir. Keep ca.key where no part of the cluster runs: who has it can be anybody.

Certificates of another CA work as well. Those of nodes and proxies need a URI among their
subject alternative names: urn:quoll:CLUSTER:node:NAME or urn:quoll:CLUSTER:proxy:NAME.`,
		Example: `  quoll cert init --dir certs --cluster-name quoll
  quoll cert node n1 --dir certs --hosts 10.0.0.1,n1.example
  quoll cert proxy p1 --dir certs --hosts 10.0.0.9,redis.example
  quoll cert client alice --dir certs`,
		Args: noArgs,
		RunE: help,
	}
	command.AddCommand(a.certInitCommand(),
		a.certIssueCommand(certs.Node, "of a node, whose --name it has", "With it a node speaks as this node of the cluster, and as no other.",
			`  quoll cert node n1 --dir certs --hosts 10.0.0.1,n1.example
  quoll node --name n1 --certs-dir certs --peer 10.0.0.1:7000 --initial-cluster ...`),
		a.certIssueCommand(certs.Proxy, "of a proxy, or of several", "With it a proxy speaks with the nodes, and clients verify it: for them it needs the --hosts at which\nthey reach it. It is no node: it cannot vote.",
			`  quoll cert proxy p1 --dir certs --hosts 10.0.0.9,redis.example
  quoll proxy --certs-dir certs --tls-listen 10.0.0.9:6380 --nodes 10.0.0.1:7000`),
		a.certIssueCommand(certs.Client, "of a client: an application, or a person", "With it a client connects with proxies that ask for certificates (--tls-client-auth). It is no part of\nthe cluster: nodes do not talk to it.",
			`  quoll cert client alice --dir certs
  redis-cli --tls --cacert certs/ca.crt --cert certs/client.alice.crt --key certs/client.alice.key -p 6380`))
	return command
}

func (a *app) certInitCommand() *cobra.Command {
	dir, cluster, valid, form := "certs", "quoll", 3650*day, asTable
	command := &cobra.Command{
		Use:     "init",
		Short:   "Make the CA of a cluster: ca.crt and ca.key",
		Long:    `Init makes a certificate authority: ca.crt, which every process gets, and ca.key, which none needs.`,
		Example: `  quoll cert init --dir certs --cluster-name quoll`,
		Args:    noArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := config.CheckCertificate(cluster, "", nil, valid); err != nil {
				return err
			}
			if _, err := certs.NewAuthority(dir, cluster, valid); err != nil {
				return err
			}
			made := madeFiles{filepath.Join(dir, certs.CAFile), filepath.Join(dir, certs.CAKeyFile)}
			return a.tellMade(form, made, fmt.Sprintf("made the CA of cluster %s: %s for everybody, %s for nobody but you", cluster, made.Cert, made.Key))
		},
	}
	bindForm(command, &form)
	command.Flags().StringVar(&dir, "dir", dir, "`directory` of the files, made if it is not there")
	command.Flags().StringVar(&cluster, "cluster-name", cluster, "`name` of the cluster, as nodes and proxies are given it")
	command.Flags().DurationVar(&valid, "valid", valid, "how long it is valid")
	return command
}

func (a *app) certIssueCommand(role certs.Role, whose, what, example string) *cobra.Command {
	request, dir, form := certs.Request{Role: role, Valid: 365 * day}, "certs", asTable
	var hosts []string
	command := &cobra.Command{
		Use:   string(role) + " NAME",
		Short: fmt.Sprintf("Make the certificate %s: %s.crt and .key", whose, certs.FileOf(role, "NAME")),
		Long: fmt.Sprintf(`Make the certificate %s, by the CA that quoll cert init has made.
%s`, whose, what),
		Example: example,
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			request.Name, request.Hosts = args[0], hosts
			ca, err := certs.OpenAuthority(dir)
			if err != nil {
				return err
			}
			if err := config.CheckCertificate(ca.Cluster(), request.Name, hosts, request.Valid); err != nil {
				return err
			}
			cert, key, err := ca.Issue(request)
			if err != nil {
				return err
			}
			return a.tellMade(form, madeFiles{cert, key}, fmt.Sprintf("made %s and %s", cert, key))
		},
	}
	bindForm(command, &form)
	flags := command.Flags()
	flags.StringVar(&dir, "dir", dir, "`directory` of the CA")
	flags.StringVar(&request.Dir, "out", "", "`directory` where the files are written (default: that of the CA)")
	flags.DurationVar(&request.Valid, "valid", request.Valid, "how long it is valid")
	if role != certs.Client {
		flags.StringSliceVar(&hosts, "hosts", []string{"127.0.0.1", "localhost"}, "`host,...`: addresses and names at which clients, or the admin API's users, reach it")
	}
	return command
}

// madeFiles is what was made, as JSON.
type madeFiles struct {
	Cert string `json:"cert"`
	Key  string `json:"key"`
}

// tellMade prints what was made.
func (a *app) tellMade(form form, made madeFiles, text string) error {
	if form == asJSON {
		return printJSON(a.stdout, made)
	}
	_, err := fmt.Fprintln(a.stdout, text)
	return err
}
