#!/usr/bin/env node
// npm run bench [-- --rows N]: runs fixed data from a fixed seed against a new server.
// `--side-by-side ...` runs the comparison suite next to the checkout (../shared/bench/run.mjs), if there is one.
import fs from 'node:fs';
import { availableParallelism, cpus, tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { ensureBuiltOrExit } from '../scripts/ensure-built.mjs';
import { HttpClient } from '../scripts/lib/http-client.mjs';
import { root } from '../scripts/lib/root.mjs';
import { runNode } from '../scripts/lib/run.mjs';
import { startServerProcess } from '../scripts/lib/server-process.mjs';
import { cpuSeconds } from './process-figures.mjs';

const DB = 'bench';
const HOST_COUNT = 100;
const STEP_SEC = 10;
const START_SEC = 1_704_067_200;
const BATCH_ROWS = 5000;
const IN_FLIGHT = 4;
const QUERY_REPEATS = 40;
const FIELDS = [
  'usage_user',
  'usage_system',
  'usage_idle',
  'usage_nice',
  'usage_iowait',
  'usage_irq',
  'usage_softirq',
  'usage_steal',
];

const { values, positionals } = parseArgs({
  options: {
    rows: { type: 'string', default: '1000000' },
    'side-by-side': { type: 'boolean', default: false },
  },
  allowPositionals: true,
  strict: false,
});
const rowCount = Number(values.rows);
const lastSec = START_SEC + Math.floor((rowCount - 1) / HOST_COUNT) * STEP_SEC;
const iso = (sec) => new Date(sec * 1000).toISOString();

const QUERIES = {
  'one host, one hour, by minute':
    "SELECT date_bin(INTERVAL '1 minute', time) AS minute, max(usage_user) AS usage FROM cpu " +
    `WHERE host = 'host_7' AND time >= '${iso(lastSec - 3600)}' GROUP BY 1 ORDER BY 1`,
  'all hosts, one hour, by host': `SELECT host, avg(usage_user) AS usage FROM cpu WHERE time >= '${iso(lastSec - 3600)}' GROUP BY host ORDER BY host`,
  'all rows, by hour':
    "SELECT date_bin(INTERVAL '1 hour', time) AS hour, avg(usage_user) AS usage FROM cpu GROUP BY 1 ORDER BY 1",
};

await ensureBuiltOrExit();
const sideBySide = path.join(root, '..', 'shared', 'bench', 'run.mjs');
if (values['side-by-side']) {
  if (!fs.existsSync(sideBySide)) {
    console.error('plinth: no side-by-side suite next to the checkout');
    process.exit(1);
  }
  const own = process.argv.slice(2).filter((word) => word !== '--side-by-side');
  process.exit(await runNode([sideBySide, ...own]));
}
if (!Number.isInteger(rowCount) || rowCount < HOST_COUNT || positionals.length > 0) {
  console.error(`plinth: invalid --rows; use an integer of at least ${HOST_COUNT}`);
  process.exit(2);
}

const dataDir = fs.mkdtempSync(path.join(tmpdir(), 'plinth-bench-'));
let server;
try {
  console.log(
    `${cpus()[0]?.model ?? 'unknown processor'}, ${availableParallelism()} cores, Node ${process.versions.node}`,
  );
  server = await startServerProcess({ dataDir, flags: ['--without-auth'] });
  await benchIngest(server);
  await benchQueries(server);
  console.log(`event-loop lag p99      ${await eventLoopLag(server)}`);
  await server.stop();
  server = await startServerProcess({ dataDir, flags: ['--without-auth'] });
  await checkCount(server);
  console.log(`restart after stop      ${server.startMs.toFixed(0)} ms`);
} finally {
  await server?.kill();
  fs.rmSync(dataDir, { recursive: true, force: true });
}

async function benchIngest({ url, pid }) {
  const client = new HttpClient(url);
  const bodies = [];
  for (let from = 0; from < rowCount; from += BATCH_ROWS) bodies.push(makeBody(from));
  const sizeBytes = bodies.reduce((sum, body) => sum + body.length, 0);
  const cpuBefore = cpuSeconds(pid);
  const startMs = performance.now();
  let next = 0;
  const sender = async () => {
    while (next < bodies.length) await client.write(DB, bodies[next++], 's');
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, sender));
  const seconds = (performance.now() - startMs) / 1000;
  await checkCount({ url });
  console.log(
    `ingest                  ${Math.round(rowCount / seconds).toLocaleString('en')} rows/s of ` +
      `${FIELDS.length} fields, ${(sizeBytes / 1e6 / seconds).toFixed(0)} MB/s`,
  );
  const cpu = cpuSeconds(pid) - cpuBefore;
  if (Number.isFinite(cpu)) {
    console.log(`server CPU per row      ${((cpu / rowCount) * 1e6).toFixed(2)} us`);
  }
}

async function benchQueries({ url }) {
  const client = new HttpClient(url);
  for (const [name, q] of Object.entries(QUERIES)) {
    const times = [];
    let resultCount = 0;
    for (let repeat = 0; repeat < QUERY_REPEATS; repeat += 1) {
      const startMs = performance.now();
      resultCount = (await client.query(DB, q)).length;
      times.push(performance.now() - startMs);
    }
    times.sort((a, b) => a - b);
    const at = (part) =>
      times[Math.min(times.length - 1, Math.floor(times.length * part))].toFixed(1);
    console.log(`${name.padEnd(31)} p50 ${at(0.5)} ms, p99 ${at(0.99)} ms (${resultCount} rows)`);
  }
}

async function checkCount({ url }) {
  const [{ n }] = await new HttpClient(url).query(DB, 'SELECT count(*) AS n FROM cpu');
  if (n !== rowCount) throw new Error(`found ${n} rows, expected ${rowCount}`);
}

function makeBody(from) {
  const lines = [];
  for (let index = from; index < Math.min(from + BATCH_ROWS, rowCount); index += 1) {
    const host = index % HOST_COUNT;
    const sec = START_SEC + Math.floor(index / HOST_COUNT) * STEP_SEC;
    const fields = FIELDS.map((name, salt) => `${name}=${(random(index, salt) * 100).toFixed(2)}`);
    lines.push(`cpu,host=host_${host},region=region_${host % 5} ${fields.join(',')} ${sec}`);
  }
  return Buffer.from(lines.join('\n'));
}

/** Returns the same pseudo-random number for the same arguments in every run. A hash needs no state, unlike a generator. */
function random(index, salt) {
  const mixed = Math.imul((index * 31 + salt) ^ (index >>> 7), 0x9e3779b1);
  return ((mixed ^ (mixed >>> 15)) >>> 8) / 2 ** 24;
}

async function eventLoopLag({ url }) {
  const { text } = await new HttpClient(url).call('GET', '/metrics');
  const found = /^\w*eventloop_lag_seconds\{quantile="0\.99"\} (\S+)$/m.exec(text)?.[1];
  return found === undefined ? 'not exported' : `${(Number(found) * 1000).toFixed(1)} ms`;
}
