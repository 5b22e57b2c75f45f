#!/usr/bin/env node
// node bench/live-queries.mjs [hosts] [queries] [kind]
// Measures how live queries affect writes. Writes the same rows with and without live queries of one series each, alternately.
//   rows       SELECT * FROM cpu WHERE host = '...' (default)
//   computed   the same with a condition that DuckDB evaluates
//   buckets    an aggregate by minute
// Reports the write rate and the server's CPU time per million rows. The goal is at most 20 % of the write rate.
import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ensureBuiltOrExit } from '../scripts/ensure-built.mjs';
import { HttpClient } from '../scripts/lib/http-client.mjs';
import { startServerProcess } from '../scripts/lib/server-process.mjs';
import { cpuSeconds } from './process-figures.mjs';

const HOSTS = Number(process.argv[2] ?? 10_000);
const QUERIES = Number(process.argv[3] ?? 1000);
const KIND = process.argv[4] ?? 'rows';
const ROWS_PER_ROUND = 400_000;
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 4);
const BATCH_LINES = 5000;
const IN_FLIGHT = 2;
const START_SEC = 1_704_067_200;
const GOAL = 0.2;
const FIELDS = ['user', 'system', 'idle', 'nice', 'iowait'];

const STATEMENTS = {
  rows: (host) => `SELECT * FROM cpu WHERE host = 'h${host}'`,
  computed: (host) => `SELECT * FROM cpu WHERE host = 'h${host}' AND ("user" > 1 OR idle > 1)`,
  buckets: (host) =>
    `SELECT date_bin(INTERVAL '1 minute', time) AS t, avg("user") AS u FROM cpu WHERE host = 'h${host}' GROUP BY 1`,
};

/** Bodies of one round, made before it is measured. */
function bodies(round) {
  const made = [];
  for (let from = 0; from < ROWS_PER_ROUND; from += BATCH_LINES) {
    const lines = [];
    for (let row = from; row < from + BATCH_LINES; row++) {
      const host = row % HOSTS;
      const step = round * Math.ceil(ROWS_PER_ROUND / HOSTS) + Math.floor(row / HOSTS);
      const fields = FIELDS.map((field, f) => `${field}=${(host * 7 + step * 13 + f * 31) % 101}i`);
      lines.push(`cpu,host=h${host},region=r${host % 9} ${fields.join(',')} ${START_SEC + step}`);
    }
    made.push(Buffer.from(lines.join('\n')));
  }
  return made;
}

/** A live query whose events are read and only counted. */
function follow(url, host) {
  return new Promise((resolve, reject) => {
    const path = `/api/v3/subscribe?${new URLSearchParams({ db: 'b', q: STATEMENTS[KIND](host) })}`;
    const sent = request(`${url}${path}`, { agent: false }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`status ${response.statusCode}`));
      const stream = { bytes: 0, close: () => sent.destroy() };
      response.on('data', (piece) => {
        stream.bytes += piece.length;
      });
      response.on('error', () => undefined);
      resolve(stream);
    });
    sent.on('error', reject);
    sent.end();
  });
}

/** Writes one round. @returns rows per second, and CPU seconds of the server per million rows. */
async function write(client, pid, round) {
  const waiting = bodies(round);
  const [cpuBefore, before] = [cpuSeconds(pid), performance.now()];
  await Promise.all(
    Array.from({ length: IN_FLIGHT }, async () => {
      for (let body = waiting.pop(); body !== undefined; body = waiting.pop())
        await client.write('b', body, 'second');
    }),
  );
  const sec = (performance.now() - before) / 1000;
  await sleep(300); // the last events
  return {
    rate: ROWS_PER_ROUND / sec,
    cpu: ((cpuSeconds(pid) - cpuBefore) * 1e6) / ROWS_PER_ROUND,
  };
}

const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];

await ensureBuiltOrExit();
const dataDir = mkdtempSync(join(tmpdir(), 'plinth-bench-live-'));
const server = await startServerProcess({ dataDir, flags: ['--without-auth'] });
const { url, pid } = server;
const client = new HttpClient(url);
const found = { without: [], with: [] };
let bytes = 0;
try {
  let round = 0;
  await write(client, pid, round++); // Warm-up.
  for (let count = 0; count < ROUNDS; count++) {
    found.without.push(await write(client, pid, round++));
    const streams = await Promise.all(
      Array.from({ length: QUERIES }, (_, i) => follow(url, Math.floor((i * HOSTS) / QUERIES))),
    );
    await sleep(300);
    found.with.push(await write(client, pid, round++));
    for (const stream of streams) {
      bytes += stream.bytes;
      stream.close();
    }
    await sleep(500);
  }
} finally {
  await server.stop();
  rmSync(dataDir, { recursive: true, force: true });
}
const figures = Object.fromEntries(
  Object.entries(found).map(([name, rounds]) => [
    name,
    { rate: median(rounds.map(({ rate }) => rate)), cpu: median(rounds.map(({ cpu }) => cpu)) },
  ]),
);
for (const [name, { rate, cpu }] of Object.entries(figures))
  console.log(
    `${name.padEnd(8)} live queries: ${Math.round(rate)} rows/s, ${cpu.toFixed(2)} CPU s per million rows`,
  );
const cost = 1 - figures.with.rate / figures.without.rate;
const cpuCost = figures.with.cpu / figures.without.cpu - 1;
console.log(
  `${QUERIES} live queries (${KIND}) over ${HOSTS} hosts: ${(cost * 100).toFixed(1)} % of the write rate, ` +
    `${(cpuCost * 100).toFixed(1)} % more CPU, ${(bytes / 1e6 / ROUNDS).toFixed(1)} MB of events per round`,
);
process.exit(cost > GOAL ? 1 : 0);
