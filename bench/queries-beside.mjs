#!/usr/bin/env node
// node bench/queries-beside.mjs [hosts] [hours]
// Measures how concurrent writes and stored history affect queries. Runs the same SQL and InfluxQL queries
//   quiet      over rows of one hour, without writes
//   beside     while rows are written to another table, and to the same one (later timestamps)
//   history    with ten times as many rows before the hour, flushed to segments
// Reports the p50 at the client, and the CPU time of the server's main thread per query, which other load affects less.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ensureBuiltOrExit } from '../scripts/ensure-built.mjs';
import { HttpClient } from '../scripts/lib/http-client.mjs';
import { startServerProcess } from '../scripts/lib/server-process.mjs';
import { cpuSeconds, residentMib } from './process-figures.mjs';

const HOSTS = Number(process.argv[2] ?? 1000);
const HOURS = Number(process.argv[3] ?? 1);
const HISTORY = 10;
const STEP_SEC = 10;
const START_SEC = 1_704_067_200;
const BATCH_LINES = 5000;
/** Rows are written until the last query has returned. A run that reaches this limit fails. */
const MOST_ROWS = 20_000_000;
const ROUNDS = 10;
const GOAL_BESIDE = 2;
const GOAL_HISTORY = 1.1;
const FIELDS = ['user', 'system', 'idle', 'nice', 'iowait', 'irq', 'softirq', 'steal'];
const FLAGS = ['--without-auth', '--tsdb-buffer-flush-bytes', '67108864'];

const HOUR_SEC = 3600;
const range = (seconds) => {
  const end = START_SEC + HOURS * HOUR_SEC;
  const text = (sec) => new Date(sec * 1000).toISOString();
  return `time >= '${text(end - seconds)}' AND time < '${text(end)}'`;
};

/** Queries in SQL and InfluxQL. Each round queries different hosts. */
const QUESTIONS = {
  'one host, one field, by minute': {
    sql: (i) =>
      `SELECT date_bin(INTERVAL '1 minute', time) AS b, max("user") AS m FROM cpu WHERE host = 'h${i}' AND ${range(HOUR_SEC)} GROUP BY b ORDER BY b`,
    influxql: (i) =>
      `SELECT max("user") FROM cpu WHERE host = 'h${i}' AND ${range(HOUR_SEC)} GROUP BY time(1m)`,
  },
  'eight hosts, five fields, by minute': {
    sql: (i) =>
      `SELECT date_bin(INTERVAL '1 minute', time) AS b, ${FIELDS.slice(0, 5).map((f) => `max("${f}") AS ${f}`)} FROM cpu WHERE host IN (${eight(i)}) AND ${range(HOUR_SEC)} GROUP BY b ORDER BY b`,
    influxql: (i) =>
      `SELECT ${FIELDS.slice(0, 5).map((f) => `max("${f}")`)} FROM cpu WHERE (${eight(i)
        .map((h) => `host = ${h}`)
        .join(' OR ')}) AND ${range(HOUR_SEC)} GROUP BY time(1m)`,
  },
  'all hosts, one field, by hour': {
    sql: () =>
      `SELECT date_bin(INTERVAL '1 hour', time) AS b, host, avg("user") AS m FROM cpu WHERE ${range(HOURS * HOUR_SEC)} GROUP BY b, host ORDER BY b, host`,
    influxql: () =>
      `SELECT mean("user") FROM cpu WHERE ${range(HOURS * HOUR_SEC)} GROUP BY time(1h), host`,
  },
  'last row of each host': {
    sql: () => `SELECT DISTINCT ON (host) * FROM cpu ORDER BY host, time DESC`,
    influxql: () => 'SELECT * FROM cpu GROUP BY host ORDER BY time DESC LIMIT 1',
  },
};
const eight = (i) => Array.from({ length: 8 }, (_, k) => `'h${(i + k * 7) % HOSTS}'`);

/** Returns rows `[from, to)` of a table, starting at a given second. Consecutive rows belong to different hosts. */
function lines(table, startSec, from, to) {
  const text = [];
  for (let row = from; row < to; row++) {
    const host = row % HOSTS;
    const step = Math.floor(row / HOSTS);
    const fields = FIELDS.map((field, f) => `${field}=${(host * 7 + step * 13 + f * 31) % 101}i`);
    text.push(
      `${table},host=h${host},region=r${host % 9} ${fields.join(',')} ${startSec + step * STEP_SEC}`,
    );
  }
  return text.join('\n');
}

async function write(client, { table, startSec, rowCount, until = () => false }) {
  for (let at = 0; at < rowCount && !until(); at += BATCH_LINES) {
    const body = lines(table, startSec, at, Math.min(rowCount, at + BATCH_LINES));
    await client.write('b', body, 'second');
  }
  return until();
}

/** Returns the CPU time of the server's main thread in milliseconds. */
const mainMs = (pid) => Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];

/** Returns the medians of each query. */
async function request(client, pid) {
  const found = {};
  for (const [name, texts] of Object.entries(QUESTIONS)) {
    for (const language of ['sql', 'influxql']) {
      const ms = [];
      const cpu = [];
      for (let i = 0; i <= ROUNDS; i++) {
        const query = { db: 'b', q: texts[language]((i * 37) % HOSTS) };
        const path = language === 'sql' ? '/api/v3/query_sql' : '/query';
        const [cpuBefore, before] = [mainMs(pid), performance.now()];
        const answer = await client.call('GET', path, { query });
        if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`);
        // The first query of a kind may load columns into memory.
        if (i === 0) continue;
        ms.push(performance.now() - before);
        cpu.push(mainMs(pid) - cpuBefore);
      }
      found[`${name}, ${language}`] = { ms: median(ms), cpu: median(cpu) };
    }
  }
  return found;
}

/** Waits until the server is almost idle. */
async function calm(pid) {
  for (let calmSec = 0, before = cpuSeconds(pid); calmSec < 3; ) {
    await sleep(1000);
    const now = cpuSeconds(pid);
    calmSec = now - before < 0.05 ? calmSec + 1 : 0;
    before = now;
  }
}

await ensureBuiltOrExit();
const dataDir = mkdtempSync(join(tmpdir(), 'plinth-bench-beside-'));
const server = await startServerProcess({ dataDir, flags: FLAGS });
const { url, pid } = server;
const asking = new HttpClient(url);
const writing = new HttpClient(url);
try {
  const rowCount = (HOSTS * HOURS * HOUR_SEC) / STEP_SEC;
  await write(writing, { table: 'cpu', startSec: START_SEC, rowCount });
  await calm(pid);
  await request(asking, pid); // Warm-up for code and data that are compiled or loaded once.
  const figures = { quiet: await request(asking, pid) };
  for (const [name, table] of [
    ['another table written', 'other'],
    ['this table written', 'cpu'],
  ]) {
    let isAsked = false;
    const startSec = START_SEC + 2 * HOURS * HOUR_SEC;
    const written = write(writing, {
      ...{ table, startSec, rowCount: MOST_ROWS, until: () => isAsked },
    });
    await sleep(500);
    figures[name] = await request(asking, pid);
    isAsked = true;
    if (!(await written))
      throw new Error(`${MOST_ROWS} rows were written before the last query returned`);
  }
  await calm(pid);
  figures['with history'] = await request(asking, pid);
  const historySec = HISTORY * HOURS * HOUR_SEC;
  const startSec = START_SEC - historySec;
  await write(writing, { table: 'cpu', startSec, rowCount: rowCount * HISTORY });
  await calm(pid);
  await request(asking, pid);
  figures['10x history'] = await request(asking, pid);
  for (const [name, quiet] of Object.entries(figures.quiet)) {
    const cells = Object.entries(figures).map(([when, all]) => {
      const { ms, cpu } = all[name];
      const ratio = when === 'quiet' ? '' : ` (${(cpu / quiet.cpu).toFixed(2)}x)`;
      return `${when} ${ms.toFixed(1)} ms, main thread ${cpu.toFixed(2)} ms${ratio}`;
    });
    console.log(`${name}\n  ${cells.join('\n  ')}`);
  }
  console.log(`goals: ${GOAL_BESIDE}x beside writes, ${GOAL_HISTORY}x with history`);
  console.log(`${residentMib(pid).toFixed(0)} MiB`);
} finally {
  await server.stop();
  rmSync(dataDir, { recursive: true, force: true });
}
