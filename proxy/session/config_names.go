package session

import "strings"

// immutableParameters are those that Redis does not change either while it runs.
var immutableParameters = nameSet("aclfile always-show-logo aof_rewrite_cpulist appenddirname appendfilename bgsave_cpulist bio_cpulist cluster-config-file cluster-enabled cluster-port " +
	"daemonize databases disable-thp enable-debug-command enable-module-command enable-protected-configs io-threads io-threads-do-reads logfile pidfile " +
	"rdbchecksum replicaof server_cpulist set-proc-title slaveof socket-mark-id supervised syslog-enabled syslog-facility syslog-ident tcp-backlog " +
	"unixsocket unixsocketperm")

// foreignParameters are those of Redis that mean nothing here.
var foreignParameters = nameSet("acl-pubsub-default active-defrag-cycle-max active-defrag-cycle-min active-defrag-ignore-bytes active-defrag-max-scan-fields " +
	"active-defrag-threshold-lower active-defrag-threshold-upper active-expire-effort activedefrag activerehashing aof-disable-auto-gc aof-load-truncated " +
	"aof-rewrite-incremental-fsync aof-timestamp-enabled aof-use-rdb-preamble appendfsync auto-aof-rewrite-min-size auto-aof-rewrite-percentage bind " +
	"bind-source-addr busy-reply-threshold client-query-buffer-limit cluster-allow-pubsubshard-when-down cluster-allow-reads-when-down " +
	"cluster-allow-replica-migration cluster-announce-bus-port cluster-announce-hostname cluster-announce-ip cluster-announce-port " +
	"cluster-announce-tls-port cluster-link-sendbuf-limit cluster-migration-barrier cluster-node-timeout cluster-preferred-endpoint-type " +
	"cluster-replica-no-failover cluster-replica-validity-factor cluster-require-full-coverage cluster-slave-no-failover cluster-slave-validity-factor " +
	"crash-log-enabled crash-memcheck-enabled dbfilename dir dynamic-hz hash-max-listpack-entries hash-max-listpack-value hash-max-ziplist-entries " +
	"hash-max-ziplist-value hll-sparse-max-bytes hz ignore-warnings jemalloc-bg-thread lazyfree-lazy-eviction lazyfree-lazy-expire lazyfree-lazy-server-del " +
	"lazyfree-lazy-user-del lazyfree-lazy-user-flush list-compress-depth list-max-listpack-size list-max-ziplist-size " +
	"loglevel lua-time-limit masterauth masteruser maxmemory-eviction-tenacity min-replicas-max-lag min-replicas-to-write " +
	"min-slaves-max-lag min-slaves-to-write no-appendfsync-on-rewrite oom-score-adj oom-score-adj-values port proc-title-template " +
	"propagation-error-behavior protected-mode rdb-del-sync-files rdb-save-incremental-fsync rdbcompression repl-backlog-size repl-backlog-ttl " +
	"repl-disable-tcp-nodelay repl-diskless-load repl-diskless-sync repl-diskless-sync-delay repl-diskless-sync-max-replicas repl-ping-replica-period " +
	"repl-ping-slave-period repl-timeout replica-announce-ip replica-announce-port replica-announced replica-ignore-disk-write-errors " +
	"replica-ignore-maxmemory replica-lazy-flush replica-priority replica-read-only replica-serve-stale-data requirepass sanitize-dump-payload " +
	"set-max-intset-entries shutdown-on-sigint shutdown-on-sigterm shutdown-timeout slave-announce-ip slave-announce-port slave-ignore-maxmemory " +
	"slave-lazy-flush slave-priority slave-read-only slave-serve-stale-data stop-writes-on-bgsave-error stream-node-max-bytes stream-node-max-entries " +
	"tcp-keepalive tls-auth-clients tls-ca-cert-dir tls-ca-cert-file tls-cert-file tls-ciphers tls-ciphersuites tls-client-cert-file tls-client-key-file " +
	"tls-client-key-file-pass tls-cluster tls-dh-params-file tls-key-file tls-key-file-pass tls-port tls-prefer-server-ciphers tls-protocols " +
	"tls-replication tls-session-cache-size tls-session-cache-timeout tls-session-caching zset-max-listpack-entries " +
	"zset-max-listpack-value zset-max-ziplist-entries zset-max-ziplist-value")

// nameSet is a set of names, which are separated by spaces.
func nameSet(list string) map[string]bool {
	set := make(map[string]bool)
	for _, name := range strings.Fields(list) {
		set[name] = true
	}
	return set
}
