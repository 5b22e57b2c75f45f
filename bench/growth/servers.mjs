// The servers that bench/growth.mjs compares, with the commands and requests to start, write to and query each one.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, openSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { cli } from '../../scripts/lib/root.mjs';

const START_TIMEOUT_MS = 120_000;
const STOP_TIMEOUT_MS = 120_000;
const FIELD = 'usage_user';
const text = encodeURIComponent;
const iso = (sec) => new Date(sec * 1000).toISOString();
const listed = (hosts) => hosts.map((host) => `'${host}'`).join(',');

/** SQL for Plinth and QuestDB. `by` returns the expression that truncates a timestamp to a step. */
const sql = (question, by) => ({
  narrow: `SELECT ${by('1 minute')} AS t, max(${FIELD}) AS v ${question.from} GROUP BY t ORDER BY t`,
  wide: `SELECT ${by('1 hour')} AS t, host, avg(${FIELD}) AS v ${question.from} GROUP BY t, host ORDER BY t, host`,
});

const plinthSql = (question) =>
  sql(
    { from: fromWhere(question, (sec) => `'${iso(sec)}'`, 'time') },
    (step) => `date_bin(INTERVAL '${step}', time)`,
  )[question.kind];

const questSql = (question) =>
  sql(
    { from: fromWhere(question, (sec) => `'${iso(sec)}'`, 'timestamp') },
    (step) => `timestamp_floor('${step === '1 hour' ? 'h' : 'm'}', timestamp)`,
  )[question.kind];

function fromWhere({ table, hosts, fromSec, toSec }, quoted, time) {
  const named = hosts === undefined ? '' : `host IN (${listed(hosts)}) AND `;
  return `FROM ${table} WHERE ${named}${time} >= ${quoted(fromSec)} AND ${time} < ${quoted(toSec)}`;
}

function promql({ kind, table, db, hosts }) {
  const named = hosts === undefined ? '' : `,host=~"${hosts.join('|')}"`;
  const series = `${table}_${FIELD}{db="${db}"${named}}`;
  return kind === 'narrow'
    ? `max(max_over_time(${series}[1m]))`
    : `avg by (host) (avg_over_time(${series}[1h]))`;
}

/**
 * `count` returns the path of a row count, `request` the path of a query, and `rowsIn` the number of rows in a response. The row count
 * prevents an empty response from counting as a fast one. For a server without databases, each database is a separate table.
 */
export const SERVERS = {
  plinth: {
    command: ({ folder, port }) => [
      process.execPath,
      ...[cli, 'serve', '--data-dir', folder, '--http-bind', `127.0.0.1:${port}`],
      ...['--services', 'tsdb', '--without-auth', '--tsdb-compat', 'influxdb3'],
    ],
    health: '/health',
    write: ({ db }) => `/api/v3/write_lp?precision=second&db=${db}`,
    table: () => 'cpu',
    count: ({ db, table }) =>
      `/api/v3/query_sql?format=json&db=${db}&q=${text(`SELECT count(*) AS n FROM ${table}`)}`,
    counted: (answer) => answer[0].n,
    request: (question) =>
      `/api/v3/query_sql?format=json&db=${question.db}&q=${text(plinthSql(question))}`,
    rowsIn: (answer) => answer.length,
    async flush(client) {
      const path = '/ops/v1/tsdb/storage';
      await client.call('POST', `${path}/flush`);
      while ((await client.json('GET', path)).flush.running !== null) await sleep(5);
    },
  },
  victoriametrics: {
    command: ({ folder, port, peers }) => [
      join(peers, 'victoria-metrics'),
      ...[`-storageDataPath=${folder}`, `-httpListenAddr=127.0.0.1:${port}`, '-loggerLevel=WARN'],
      ...['-retentionPeriod=100y', '-search.latencyOffset=0s', '-search.maxQueryDuration=300s'],
      ...['-search.maxUniqueTimeseries=3000000', '-search.maxSeries=3000000'],
    ],
    health: '/health',
    write: ({ db }) => `/write?precision=s&db=${db}`,
    table: () => 'cpu',
    count: ({ db, table, fromSec, toSec }) =>
      `/api/v1/query?nocache=1&time=${toSec - 1}&query=` +
      text(`sum(count_over_time(${table}_${FIELD}{db="${db}"}[${toSec - fromSec}s]))`),
    counted: ({ data }) => Number(data.result[0]?.value[1] ?? 0),
    request: (question) => {
      const step = question.kind === 'narrow' ? 60 : 3600;
      // The value of a step covers the window that ends there.
      const range = `start=${question.fromSec + step}&end=${question.toSec}&step=${step}`;
      return `/api/v1/query_range?nocache=1&${range}&query=${text(promql(question))}`;
    },
    rowsIn: ({ data }) => data.result.reduce((sum, { values }) => sum + values.length, 0),
  },
  questdb: {
    command: ({ folder, port, peers }) => {
      mkdirSync(join(folder, 'conf'), { recursive: true });
      writeFileSync(
        join(folder, 'conf', 'server.conf'),
        `http.bind.to=127.0.0.1:${port}\nhttp.min.enabled=false\nline.tcp.enabled=false\npg.enabled=false\n` +
          'telemetry.enabled=false\nshared.worker.count=2\ncairo.commit.mode=nosync\n',
      );
      const jar = join(peers, 'questdb.jar');
      const module = 'io.questdb/io.questdb.ServerMain';
      return ['java', '-Xmx2g', '-p', jar, '-m', module, '-d', folder];
    },
    health: '/ping',
    write: () => '/write?precision=s',
    table: ({ db }) => `cpu_${db}`,
    count: ({ table }) => `/exec?query=${text(`SELECT count() FROM ${table}`)}`,
    counted: ({ dataset }) => dataset[0][0],
    request: (question) => `/exec?query=${text(questSql(question))}`,
    rowsIn: ({ count }) => count,
  },
};

/** Starts a server. `stop` returns the time until its exit in milliseconds. */
export async function startOne(name, { folder, peers }) {
  const port = await freePort();
  const [program, ...words] = SERVERS[name].command({ folder, port, peers });
  const url = `http://127.0.0.1:${port}`;
  const log = openSync(`${folder}.log`, 'a');
  const startMs = performance.now();
  const child = spawn(program, words, { stdio: ['ignore', log, log] });
  const ended = once(child, 'exit');
  const killWithUs = () => child.kill('SIGKILL');
  process.once('exit', killWithUs);
  ended.then(() => process.off('exit', killWithUs));
  const lateMs = startMs + START_TIMEOUT_MS;
  while (!(await answers(url + SERVERS[name].health))) {
    if (child.exitCode !== null || performance.now() > lateMs) {
      throw new Error(`${name} did not start; see ${folder}.log`);
    }
    await sleep(2);
  }
  return {
    url,
    pid: child.pid,
    startMs: performance.now() - startMs,
    async stop() {
      const beginMs = performance.now();
      child.kill('SIGTERM');
      const hard = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
      await ended;
      clearTimeout(hard);
      return performance.now() - beginMs;
    },
  };
}

async function answers(url) {
  try {
    const answer = await fetch(url);
    await answer.arrayBuffer();
    return answer.ok;
  } catch {
    return false;
  }
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}
