#!/usr/bin/env node
// deletion.mjs [segments]   measures how long dropping a database with many segments takes, and how it affects other requests.
import fs from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ensureBuiltOrExit } from '../scripts/ensure-built.mjs';
import { startServerProcess } from '../scripts/lib/server-process.mjs';

const SEGMENTS = Number(process.argv[2] ?? 10_000);
const DAY_SEC = 86_400;
const LINES_PER_WRITE = 1000;
/** With more per flush, days would share segments. */
const DAYS_PER_TABLE = 10;

await ensureBuiltOrExit();
const dataDir = fs.mkdtempSync(path.join(tmpdir(), 'plinth-bench-'));
const server = await startServerProcess({
  dataDir,
  flags: ['--without-auth', '--services', 'tsdb', '--tsdb-buffer-flush-age-ms', '1000'],
});
try {
  console.log(`machine: ${cpus().length} cores, load ${loadavg()[0].toFixed(1)}`);
  // A segment contains rows of one table and one day.
  const lines = Array.from(
    { length: SEGMENTS },
    (_, i) =>
      `m${Math.floor(i / DAYS_PER_TABLE)},host=h f=${i} ${(1 + (i % DAYS_PER_TABLE)) * DAY_SEC}`,
  );
  const fillMs = performance.now();
  for (let at = 0; at < lines.length; at += LINES_PER_WRITE) {
    const body = lines.slice(at, at + LINES_PER_WRITE).join('\n');
    await call('POST', '/api/v3/write_lp?db=big&precision=s', body);
  }
  while (countFiles() < SEGMENTS) await sleep(1000);
  console.log(`${countFiles()} segments written in ${seconds(fillMs)} s`);
  const dropMs = performance.now();
  await call('DELETE', '/api/v3/configure/database?db=big&hard_delete_at=now');
  console.log(`response after ${(performance.now() - dropMs).toFixed(1)} ms`);
  const waits = [];
  while (countFiles() > 0) {
    const startMs = performance.now();
    await call('GET', '/health');
    waits.push(performance.now() - startMs);
    await sleep(5);
  }
  waits.sort((a, b) => a - b);
  const worst = waits.at(-1)?.toFixed(1) ?? '0';
  console.log(`all files gone after ${seconds(dropMs)} s; slowest /health meanwhile ${worst} ms`);
} finally {
  await server.kill();
  fs.rmSync(dataDir, { recursive: true, force: true });
}

async function call(method, target, body) {
  const answer = await fetch(new URL(target, server.url), { method, ...(body && { body }) });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${target}: ${answer.status} ${text}`);
}

function countFiles() {
  const folder = path.join(dataDir, 'objects');
  const names = fs.existsSync(folder) ? fs.readdirSync(folder, { recursive: true }) : [];
  return names.filter((name) => name.endsWith('.parquet')).length;
}

function seconds(sinceMs) {
  return ((performance.now() - sinceMs) / 1000).toFixed(1);
}
