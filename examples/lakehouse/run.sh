#!/usr/bin/env bash
# run.sh   starts Plinth and two nodes of Trino, publishes a table, and compares the sums of four engines. See README.md.
# Needs Node.js 20.19 or newer and Python 3 with venv. Trino also needs a JDK 24 or newer, and Maven or PLINTH_TEST_TRINO.
set -euo pipefail
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
HERE=$ROOT/examples/lakehouse
RUN=$(mktemp -d "${TMPDIR:-/tmp}/plinth-lakehouse-XXXXXX")
WORK=${LAKEHOUSE_WORK:-$RUN}
TRINO_VERSION=476
TRINO_ARTIFACT=io.trino:trino-server:$TRINO_VERSION:tar.gz
STARTED=()

clean_up() {
  for pid in "${STARTED[@]}"; do kill "$pid" 2>/dev/null || true; done
  for pid in "${STARTED[@]}"; do wait "$pid" 2>/dev/null || true; done
  rm -rf "$RUN"
}
trap clean_up EXIT
trap 'exit 130' INT TERM

fail() {
  echo "lakehouse: $1" >&2
  [ -z "${2:-}" ] || tail -n 20 "$2" >&2
  exit 1
}

# Waits until a command succeeds: wait_for PID LOG SECONDS COMMAND...
wait_for() {
  local pid=$1 log=$2 deadline=$((SECONDS + $3))
  shift 3
  until "$@" >/dev/null 2>&1; do
    kill -0 "$pid" 2>/dev/null || fail "the process has ended; its last log lines:" "$log"
    [ $SECONDS -lt $deadline ] || fail "no response in time; the last log lines:" "$log"
    sleep 1
  done
}

require() { command -v "$1" >/dev/null || fail "$1 is missing; install $2"; }

start_plinth() {
  # Installs and builds the checkout first, if necessary.
  (
    unset "${!PLINTH_TEST_@}" # not settings of the server
    exec node "$ROOT/scripts/start.cjs" --data-dir "$RUN/data" --http-bind 127.0.0.1:0 --without-auth \
      --services tsdb --open-tables-databases home --query-wide-url "http://127.0.0.1:$TRINO_PORT/plinth"
  ) >"$RUN/plinth.log" 2>&1 &
  STARTED+=($!)
  wait_for $! "$RUN/plinth.log" 600 grep '"msg":"server listens"' "$RUN/plinth.log"
  PLINTH=$(sed -n 's/.*"address":"\(http[^"]*\)".*"msg":"server listens".*/\1/p' "$RUN/plinth.log" | head -n 1)
  echo "Plinth listens at $PLINTH"
}

prepare_python() {
  PYTHON=${LAKEHOUSE_VENV:-$WORK/venv}/bin/python
  [ ! -x "$PYTHON" ] || return 0
  echo "installing PyIceberg and chdb-core"
  PYTHON=$WORK/venv/bin/python
  {
    python3 -m venv "$WORK/venv" && "$PYTHON" -m pip install --quiet --disable-pip-version-check \
      'pyiceberg[pyarrow]==0.12.*' 'chdb-core==26.9.*'
  } >"$RUN/pip.log" 2>&1 || PYTHON=python3
}

# Sets TRINO to the folder of Trino, or NO_TRINO to the reason.
find_trino() {
  [ "${PLINTH_TEST_TRINO:-}" != none ] || { NO_TRINO="PLINTH_TEST_TRINO is none"; return; }
  local home version
  for home in ${PLINTH_TEST_TRINO_JAVA:-} ${JAVA_HOME:-} /usr/lib/jvm/*; do
    JAVA=$home/bin/java
    version=$("$JAVA" -version 2>&1 | sed -n 's/.*version "\([0-9]*\).*/\1/p') || true
    [ "${version:-0}" -lt 24 ] || break
  done
  [ "${version:-0}" -ge 24 ] || {
    NO_TRINO="needs a JDK 24 or newer; set PLINTH_TEST_TRINO_JAVA to its folder"
    return
  }
  TRINO=${PLINTH_TEST_TRINO:-$WORK/trino-server-$TRINO_VERSION}
  [ ! -d "$TRINO/lib" ] || return 0
  local archive=$HOME/.m2/repository/io/trino/trino-server/$TRINO_VERSION/trino-server-$TRINO_VERSION.tar.gz
  if [ ! -f "$archive" ]; then
    command -v mvn >/dev/null || {
      NO_TRINO="set PLINTH_TEST_TRINO to the unpacked $TRINO_ARTIFACT, or install Maven"
      return
    }
    echo "downloading Trino (821 MB)"
    mvn -B -q dependency:get -Dtransitive=false -Dartifact=$TRINO_ARTIFACT >"$RUN/maven.log" 2>&1 || true
  fi
  TRINO=$WORK/trino-server-$TRINO_VERSION
  tar -xzf "$archive" -C "$WORK" 2>/dev/null || NO_TRINO="Maven cannot download $TRINO_ARTIFACT"
}

free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

# start_trino_node NAME PORT IS_COORDINATOR
start_trino_node() {
  local folder=$RUN/$1
  mkdir -p "$folder/catalog"
  printf '%s\n' connector.name=iceberg iceberg.catalog.type=rest fs.hadoop.enabled=true \
    "iceberg.rest-catalog.uri=$PLINTH/iceberg" >"$folder/catalog/plinth.properties"
  printf '%s\n' "coordinator=$3" "http-server.http.port=$2" "discovery.uri=$TRINO_URL" node.internal-address=127.0.0.1 \
    "catalog.config-dir=$folder/catalog" "plugin.dir=$RUN/plugin" \
    query.max-memory-per-node=200MB memory.heap-headroom-per-node=250MB >"$folder/config.properties"
  [ "$3" = false ] || echo node-scheduler.include-coordinator=false >>"$folder/config.properties"
  "$JAVA" -Xmx1G -XX:+UseG1GC -Djdk.attach.allowAttachSelf=true --enable-native-access=ALL-UNNAMED \
    --sun-misc-unsafe-memory-access=allow -Dnode.environment=lakehouse "-Dnode.id=$1" "-Dnode.data-dir=$folder" \
    "-Dconfig=$folder/config.properties" -Dlog.enable-console=true \
    -cp "$TRINO/lib/*" io.trino.server.TrinoServer >"$folder/log" 2>&1 &
  STARTED+=($!)
}

start_trino() {
  mkdir "$RUN/plugin"
  ln -s "$TRINO/plugin/iceberg" "$RUN/plugin/iceberg" # the other plugins only delay the start
  TRINO_URL=http://127.0.0.1:$TRINO_PORT
  start_trino_node coordinator "$TRINO_PORT" true
  start_trino_node worker "$(free_port)" false
  wait_for $! "$RUN/coordinator/log" 600 "$PYTHON" "$HERE/sums.py" nodes "$TRINO_URL" 2
  echo "Trino runs with 2 nodes at $TRINO_URL"
}

require node 'Node.js 20.19 or newer'
require python3 'Python 3 with venv'
NO_TRINO=
TRINO_PORT=$(free_port)
start_plinth
prepare_python
find_trino
if [ -z "$NO_TRINO" ]; then start_trino; else TRINO_URL=; echo "Trino skipped: $NO_TRINO"; fi
"$PYTHON" "$HERE/sums.py" compare "$PLINTH" "$TRINO_URL"
