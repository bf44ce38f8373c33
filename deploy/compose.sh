#!/usr/bin/env bash
# A cluster in containers: make up, make down, make grow, make shrink, make logs, make status, make env.
#
#   deploy/compose.sh up|down|grow|shrink|logs|status|env|secret
#
#   CLUSTER=five              compose.five.yaml, or memory: compose.memory.yaml; else compose.yaml
#   TLS=1                     up: with compose.tls.yaml, TLS inside and for clients; its certificates are made once
#   QUOLL_PORT, QUOLL_PORT2   the ports of the two proxies on 127.0.0.1 (default 6379, 6380)
#   QUOLL_IMAGE=name:tag      an image that is there already, instead of one built from this tree
#   QUOLL_PROJECT=name        what containers, network and volumes are named after (default quoll)
#   MONITORING=1              up: with Prometheus and Grafana, whose images are pulled
#   UP_TIMEOUT=seconds        up: how long to wait until all are healthy (default 120)
#   MOVE_TIMEOUT=time         grow, shrink: how long data may move (default 30m)
#   VOLUMES=1                 down: remove the data too, of CLUSTER if none is up
#   FOLLOW=1                  logs: go on until Ctrl-C
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd -P)
project=${QUOLL_PROJECT:-quoll}
export QUOLL_PORT=${QUOLL_PORT:-6379} QUOLL_PORT2=${QUOLL_PORT2:-6380}

die() {
	echo "$*" >&2
	exit 1
}

# find_docker says what is missing, if something is, and finds Compose: the array compose.
find_docker() {
	command -v docker >/dev/null ||
		die "Docker is not installed: install it (https://docs.docker.com/engine/install), or run a cluster without it: make cluster"
	local answer
	if ! answer=$(docker version --format '{{.Server.Version}}' 2>&1); then
		case $answer in
		*"permission denied"*)
			die "You have no rights to the Docker daemon: join its group with 'sudo usermod -aG docker \$USER' and log in again, or use sudo" ;;
		*"annot connect"* | *"daemon running"*)
			die "The Docker daemon is not running, or DOCKER_HOST is wrong: start it with 'sudo systemctl start docker'" ;;
		*) die "Docker does not answer: ${answer##*$'\n'}" ;;
		esac
	fi
	if docker compose version >/dev/null 2>&1; then
		compose=(docker compose)
	elif command -v docker-compose >/dev/null; then
		compose=(docker-compose)
	else
		die "Docker Compose is not installed: install docker-compose-plugin (https://docs.docker.com/compose/install) or docker-compose 1.29"
	fi
}

# containers lists those of the project, running or not, one field each.
containers() { docker ps --all --filter "label=com.docker.compose.project=$project" --format "$1"; }

# find_file chooses the compose file, file, with the arguments that name it and what belongs to it, files: the one that the containers were made from, else CLUSTER's, with
# TLS if that is asked for (secured). A project that was not made from here is somebody else's.
find_file() {
	local dir made
	dir=$(containers '{{.Label "com.docker.compose.project.working_dir"}}' | grep -vxF "$here" | head -n 1 || true)
	[ -z "$dir" ] ||
		die "The containers of project $project were made from $dir: run 'make down' there, or take another name here with QUOLL_PROJECT=name"
	made=$(containers '{{.Label "com.docker.compose.project.config_files"}}' | sort -u | head -n 1)
	case ${CLUSTER:-} in
	"") file=${made:-$here/compose.yaml} ;;
	memory | five) file=$here/compose.$CLUSTER.yaml ;;
	*) die "CLUSTER=$CLUSTER is not known: use CLUSTER=five, CLUSTER=memory, or leave it out for three nodes on disk" ;;
	esac
	[ -z "${TLS:-}" ] || [ -z "${CLUSTER:-}" ] || die "Only compose.yaml has TLS: leave TLS out, or CLUSTER"
	[ -z "${TLS:-}" ] || [ -n "$made" ] || file+=,$here/compose.tls.yaml
	[ -z "${TLS:-}" ] || [[ $file = *compose.tls.yaml ]] ||
		die "A cluster without TLS is up: run 'make down' first (it keeps the data), or leave TLS out"
	[ -z "$made" ] || [ "$made" = "$file" ] ||
		die "A cluster made from $(basename "$made") is up: run 'make down' first (it keeps the data), or leave CLUSTER out"
	files=(--file "${file%%,*}")
	secured=
	[[ $file != *compose.tls.yaml ]] || files+=(--file "${file#*,}") secured=1
	file=${file%%,*}
}

run() { "${compose[@]}" --project-name "$project" "${files[@]}" "$@"; }

# need_cluster ends the script if there is nothing to look at.
need_cluster() {
	[ -n "$(containers '{{.ID}}')" ] || die "No cluster is up in project $project: start one with 'make up'"
}

# make_secrets makes, once, the secret that nodes and proxies share, and the token with which Prometheus may read their admin API. Containers
# read them with a uid of their own, so the files are readable for all, in a directory that only its owner can enter.
make_secrets() {
	mkdir -p "$here/secrets"
	chmod 0700 "$here/secrets"
	[ -s "$here/secrets/quoll" ] || random | keep quoll
	[ -s "$here/secrets/prometheus" ] || random | keep prometheus
	[ -s "$here/secrets/tokens" ] || echo "prometheus read $(cat "$here/secrets/prometheus")" | keep tokens
}

# make_certs makes, once and all of them or none, a CA and a directory for each process with its certificate. Directories are mounted and not files, so that what is renamed
# in one is seen. Containers read them as secrets.
make_certs() {
	local dir=$here/secrets/certs name
	[ ! -e "$dir" ] || return 0
	rm -rf "$dir.new"
	certify init --cluster-name quoll
	for name in a b c d; do
		certify node "$name" --hosts "$name" --out "/secrets/certs.new/$name"
	done
	for name in proxy1 proxy2; do
		certify proxy "$name" --hosts "$name,127.0.0.1,localhost" --out "/secrets/certs.new/$name"
	done
	certify client me
	for name in a b c d proxy1 proxy2; do
		cp "$dir.new/ca.crt" "$dir.new/$name"
		chmod 0755 "$dir.new/$name"
		chmod 0444 "$dir.new/$name"/*
	done
	mv "$dir.new" "$dir"
}

# certify is quoll cert, of the image that is used, in the directory of secrets.
certify() {
	docker run --rm --network none --user "$(id -u):$(id -g)" --volume "$here/secrets:/secrets" "$QUOLL_IMAGE" cert "$@" --dir /secrets/certs.new >/dev/null
}

# random prints 32 bytes that nobody can guess, in hexadecimal digits.
random() { od -An -N32 -tx1 /dev/urandom | tr -d ' \n'; }

# keep writes a file of secrets ($1), whole or not at all.
keep() {
	cat >"$here/secrets/new"
	chmod 0444 "$here/secrets/new"
	mv "$here/secrets/new" "$here/secrets/$1"
}

# check_port refuses a port that cannot be published: which setting ($1), its value ($2).
check_port() {
	[[ $2 =~ ^[1-9][0-9]{0,4}$ && $2 -le 65535 ]] || die "$1=$2 is not a port: use a number from 1 to 65535"
	[ -z "$(containers '{{.Ports}}' | grep -F "127.0.0.1:$2->" || true)" ] || return 0
	if (: <"/dev/tcp/127.0.0.1/$2") 2>/dev/null; then
		die "Port $2 on 127.0.0.1 is taken: stop what listens there, or choose another one with $1=port, e.g. $1=$(($2 % 50000 + 10000)) make up"
	fi
}

check_ports() {
	[ "$QUOLL_PORT" != "$QUOLL_PORT2" ] || die "QUOLL_PORT and QUOLL_PORT2 are both $QUOLL_PORT: the two proxies need one each"
	check_port QUOLL_PORT "$QUOLL_PORT"
	check_port QUOLL_PORT2 "$QUOLL_PORT2"
	[ -n "${MONITORING:-}" ] || return 0
	check_port QUOLL_PROMETHEUS_PORT "${QUOLL_PROMETHEUS_PORT:-9090}"
	check_port QUOLL_GRAFANA_PORT "${QUOLL_GRAFANA_PORT:-3000}"
}

# get_image builds the image of this tree, or finds the one that was given.
get_image() {
	if [ -n "${QUOLL_IMAGE:-}" ]; then
		docker image inspect "$QUOLL_IMAGE" >/dev/null 2>&1 ||
			die "The image $QUOLL_IMAGE is not here: get it with 'docker pull $QUOLL_IMAGE', or leave QUOLL_IMAGE out to build one from this tree"
	else
		[ "$(uname -s)" = Linux ] ||
			die "The image is made of this machine's binary, which is not for Linux: 'docker build -f deploy/Dockerfile.build -t quoll:built .', then 'QUOLL_IMAGE=quoll:built make up'"
		make --no-print-directory -C "$here/.." image
		QUOLL_IMAGE=${IMAGE:-quoll:latest}
	fi
	export QUOLL_IMAGE
}

# check_version refuses to replace the containers of another build under their clients.
check_version() {
	local wanted id
	wanted=$(docker image inspect --format '{{.Id}}' "$QUOLL_IMAGE")
	for id in $(docker ps --all --quiet --filter "label=com.docker.compose.project=$project" --filter label=org.opencontainers.image.title=quoll); do
		[ "$(docker inspect --format '{{.Image}}' "$id")" = "$wanted" ] ||
			die "The cluster that is up runs another build than $QUOLL_IMAGE: run 'make down' first (it keeps the data), then 'make up'"
	done
}

# sick lists the containers that are not healthy, or without a health check not running; and those that end again
# and again, with "ends:" before the name.
sick() {
	local id
	for id in $(containers '{{.ID}}'); do
		docker inspect --format '{{if and .State.Restarting (gt .RestartCount 2)}}ends:{{.Name}}{{else if .State.Health}}{{if ne .State.Health.Status "healthy"}}{{.Name}}{{end}}{{else if not .State.Running}}{{.Name}}{{end}}' "$id" 2>/dev/null || true
	done | grep . || true
}

# give_up ends the script with what is known: why ($1), what the containers log, and what their health checks say.
give_up() {
	local name
	echo "The cluster did not start: $1" >&2
	for name in $(sick); do
		name=${name##*/}
		echo "The last lines of $name:" >&2
		docker logs --tail 5 "$name" 2>&1 | cut -c 1-300 >&2
		docker inspect --format '{{with .State.Health}}{{range .Log}}health: {{.Output}}{{end}}{{end}}' "$name" | grep . | tail -n 1 >&2 || true
	done
	die "See 'make logs' and 'make status'; 'make down' ends it, and keeps the data"
}

# await waits until Compose ($starting) is done and all are healthy. Compose itself waits for the nodes, and would
# for ever for one that ends again and again.
await() {
	local running names
	while :; do
		running=
		kill -0 "$starting" 2>/dev/null && running=1
		names=$(sick)
		[ -n "$running" ] || wait "$starting" || give_up "$(tail -n 3 "$log" | tr '\n' ' ')"
		[ -n "$running$names" ] || return 0
		[[ $names != *ends:* ]] || give_up "something ends again and again"
		[ $((SECONDS - began)) -lt "$limit" ] || give_up "not all are healthy after $limit s"
		sleep 0.3
	done
}

up() {
	local limit=${UP_TIMEOUT:-120} profile=() began tls=
	[[ $limit =~ ^[1-9][0-9]{0,4}$ ]] || die "UP_TIMEOUT=$limit is not a number of seconds"
	[ -z "${MONITORING:-}" ] || [ "$file" = "$here/compose.yaml" ] ||
		die "Only compose.yaml has Prometheus and Grafana: leave MONITORING out, or CLUSTER"
	[ -z "${MONITORING:-}" ] || profile=(--profile monitoring)
	check_ports
	get_image
	check_version
	make_secrets
	[ -z "$secured" ] || make_certs
	# What ended again and again the last time begins anew, not when Docker would try it next.
	docker ps --quiet --filter "label=com.docker.compose.project=$project" --filter status=restarting | xargs -r docker rm --force >/dev/null
	echo "Starting $QUOLL_IMAGE, as $(basename "$file") says${secured:+, with TLS}."
	log=$(mktemp) starting='' began=$SECONDS
	trap 'kill $starting 2>/dev/null || true; rm -f "$log"' EXIT
	run "${profile[@]}" up --detach >"$log" 2>&1 &
	starting=$!
	await
	[ -z "$secured" ] || tls=" --tls --cacert $here/secrets/certs/ca.crt --cert $here/secrets/certs/client.me.crt --key $here/secrets/certs/client.me.key"
	cat <<-END
		All is healthy after $((SECONDS - began)) s. Redis clients connect to 127.0.0.1:$QUOLL_PORT and 127.0.0.1:$QUOLL_PORT2. Next:

		  redis-cli -p $QUOLL_PORT$tls set greeting hello
		  redis-cli -p $QUOLL_PORT2$tls get greeting
		  make status
		  eval "\$(make -s env)"; bin/quoll ring locate greeting      # as for a cluster of your own
		  make down
	END
}

down() {
	run --profile monitoring --profile grow down ${VOLUMES:+--volumes}
	if [ -n "${VOLUMES:-}" ]; then
		echo "The data is gone."
	elif grep -q '^volumes:' "$file"; then
		echo "The data stays in volumes, for the next 'make up'; 'make down VOLUMES=1' removes it."
	else
		echo "The data was in memory, and is gone."
	fi
}

logs() {
	need_cluster
	run logs --tail=100 ${FOLLOW:+--follow}
}

# look has a service show the cluster. It fails if the service cannot; a cluster that is not healthy is shown too. A
# container that is paused would never answer.
look() {
	local code=0
	timeout 20 "${compose[@]}" --project-name "$project" "${files[@]}" exec -T "$1" quoll ring status 2>/dev/null || code=$?
	[ "$code" = 0 ] || [ "$code" = 3 ]
}

# services lists those that run quoll and are running, the proxies first: they see it as clients do.
services() {
	docker ps --filter "label=com.docker.compose.project=$project" --filter label=org.opencontainers.image.title=quoll \
		--filter status=running --format '{{.Label "com.docker.compose.service"}}' | sort -r
}

status() {
	local service table
	need_cluster
	run ps
	for service in $(services); do
		if table=$(look "$service"); then
			printf '\n%s\n' "$table"
			return
		fi
	done
	die "Nothing of the cluster answers: see 'make logs'"
}

# env prints what makes bin/quoll on this machine ask this cluster: eval "$(make -s env)".
env() {
	local service port admin='' clients=''
	need_cluster
	for service in $(services | sort); do
		case $service in
		proxy*)
			port=$(published "$service" 6379)
			clients+=${port:+,$port}
			;;
		*)
			port=$(published "$service" 7100)
			admin+=${port:+,$port}
			;;
		esac
	done
	[ -n "$admin" ] || die "No node of the cluster runs: see 'make status'"
	echo "export QUOLL_ADMIN=${admin#,}"
	echo "export QUOLL_SECRET_FILE='$here/secrets/quoll'"
	[ -z "$clients" ] || echo "export QUOLL_ADDR=${clients#,}"
}

# quoll runs a command in the container of a service ($1).
quoll() {
	local service=$1
	shift
	run exec -T "$service" quoll "$@"
}

# need_grown ends the script if this cluster is not one that can grow.
need_grown() {
	need_cluster
	[ "$file" = "$here/compose.yaml" ] || die "Only compose.yaml has a node that can join later: run 'make down', and 'make up' without CLUSTER"
}

# grow starts node d, which asks to join, and waits until it holds its share.
grow() {
	local answer
	need_grown
	get_image
	check_version
	run --profile grow up --detach --no-recreate d
	echo "Node d has started, and asks to join."
	for _ in $(seq 60); do
		if answer=$(quoll a ring plan join d 2>&1); then
			printf '%s\n' "$answer"
			quoll a ring commit
			quoll a ring wait --timeout "${MOVE_TIMEOUT:-30m}"
			echo "Node d is a member, and holds its share. 'make shrink' lets it leave."
			return
		fi
		case $answer in
		*"does not wait to join"* | *"no such member"*) ;; # yet
		*) die "$answer" ;;
		esac
		sleep 1
	done
	die "Node d does not join: $answer; see 'make logs'"
}

# shrink lets node d leave, and removes it with its data, which the others have.
shrink() {
	need_grown
	quoll d node leave --timeout "${MOVE_TIMEOUT:-30m}" || die "Node d has not left, and stays: see 'make status'"
	run --profile grow rm --stop --force d
	docker volume rm "${project}_d" >/dev/null
	echo "Node d has left, and is removed."
}

# published is where a port ($2) of a service ($1) is reached from this machine.
published() {
	docker ps --filter "label=com.docker.compose.project=$project" --filter "label=com.docker.compose.service=$1" --format '{{.Ports}}' |
		tr ',' '\n' | sed -n "s|^ *\(127\.0\.0\.1:[0-9]*\)->$2/tcp.*|\1|p" | head -n 1
}

case ${1:-} in
secret) make_secrets ;;
up | down | grow | shrink | logs | status | env)
	find_docker
	find_file
	"$1"
	;;
*) die "usage: deploy/compose.sh up|down|grow|shrink|logs|status|env|secret" ;;
esac
