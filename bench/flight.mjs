#!/usr/bin/env node
// flight.mjs [rows]   compares JSON lines and Arrow Flight for the same rows: time, CPU time of the server, time to the first rows.
import fs from 'node:fs';
import { request } from 'node:http';
import http2 from 'node:http2';
import { cpus, loadavg, tmpdir } from 'node:os';
import path from 'node:path';
import { ensureBuiltOrExit } from '../scripts/ensure-built.mjs';
import { startServerProcess } from '../scripts/lib/server-process.mjs';
import { cpuSeconds } from './process-figures.mjs';

const ROWS = Number(process.argv[2] ?? 1_000_000);
const BATCH_ROWS = 50_000;
const REPEATS = 5;
/** Warm-up runs, because the JIT compilers need a few. */
const WARM_UP = 4;
/** Larger than the schema message, so that bytes beyond it are rows. */
const SCHEMA_BYTES = 2000;
const QUERIES = [
  'SELECT * FROM cpu',
  'SELECT time, usage, load, usage + 1 AS a, load + 1 AS b FROM cpu',
];

await ensureBuiltOrExit();
const dataDir = fs.mkdtempSync(path.join(tmpdir(), 'plinth-bench-'));
const server = await startServerProcess({
  dataDir,
  flags: ['--without-auth', '--services', 'tsdb'],
});
try {
  for (let from = 0; from < ROWS; from += BATCH_ROWS) {
    const lines = Array.from({ length: Math.min(BATCH_ROWS, ROWS - from) }, (_, k) => {
      const i = from + k;
      const timeNs = 1_700_000_000_000_000_000n + BigInt(i) * 1_000_000n;
      return `cpu,host=host_${i % 100},region=eu-${i % 3} usage=${(i % 1000) / 10},load=${i * 0.37} ${timeNs}`;
    });
    const url = `${server.url}/api/v3/write_lp?db=bench&precision=ns`;
    const answer = await fetch(url, { method: 'POST', body: lines.join('\n') });
    if (answer.status !== 204) throw new Error(await answer.text());
  }
  for (const sql of QUERIES) {
    console.log(`${sql}   load ${loadavg()[0].toFixed(1)} on ${cpus().length} cores`);
    for (const [name, send] of [
      ['flight', flight],
      ['jsonl', jsonLines],
    ]) {
      for (let i = 0; i < WARM_UP; i++) await measured(send, sql);
      const runs = [];
      for (let i = 0; i < REPEATS; i++) runs.push(await measured(send, sql));
      const median = (key) => runs.map((run) => run[key]).sort((a, b) => a - b)[REPEATS >> 1];
      const figures = ['ms', 'cpuMs', 'firstMs', 'megabytes'].map((key) => `${key} ${median(key)}`);
      console.log(`  ${name.padEnd(6)} ${figures.join('  ')}`);
    }
  }
} finally {
  await server.stop();
  fs.rmSync(dataDir, { recursive: true, force: true });
}

async function measured(send, sql) {
  const startMs = performance.now();
  const cpuBefore = cpuSeconds(server.pid);
  let sizeBytes = 0;
  let firstMs;
  await send(sql, (piece) => {
    sizeBytes += piece.length;
    if (sizeBytes > SCHEMA_BYTES) firstMs ??= Math.round(performance.now() - startMs);
  });
  const ms = Math.round(performance.now() - startMs);
  const cpuMs = Math.round((cpuSeconds(server.pid) - cpuBefore) * 1000);
  return { ms, cpuMs, firstMs, megabytes: Math.round(sizeBytes / 1e6) };
}

function jsonLines(sql, onData) {
  const query = new URLSearchParams({ db: 'bench', format: 'jsonl', q: sql });
  return new Promise((resolve, reject) => {
    const answer = (response) => response.on('data', onData).on('end', resolve);
    request(`${server.url}/api/v3/query_sql?${query}`, answer).on('error', reject).end();
  });
}

/** Receives the bytes without decoding them, so that the figure excludes client work. */
function flight(sql, onData) {
  const ticket = Buffer.from(JSON.stringify({ database: 'bench', sql_query: sql }));
  // The request message has one field. Its length is a varint of one or two bytes.
  const size = ticket.length;
  const length = size < 128 ? [size] : [(size & 127) | 128, size >> 7];
  const message = Buffer.concat([Buffer.from([10, ...length]), ticket]);
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(message.length, 1);
  const session = http2.connect(server.url, { settings: { initialWindowSize: 8_388_608 } });
  session.on('connect', () => session.setLocalWindowSize(67_108_864));
  const stream = session.request({
    ':method': 'POST',
    ':path': '/arrow.flight.protocol.FlightService/DoGet',
    'content-type': 'application/grpc',
    te: 'trailers',
  });
  stream.end(Buffer.concat([prefix, message]));
  return new Promise((resolve, reject) => {
    stream.on('data', onData).on('error', reject);
    stream.on('trailers', (trailers) => {
      if (trailers['grpc-status'] !== '0') reject(new Error(trailers['grpc-message']));
    });
    stream.on('end', () => {
      session.close();
      resolve();
    });
  });
}
