#!/usr/bin/env node
// node bench/series-scale.mjs [rows] [few] [many]
// Compares the cost of a row with few and with many series: the same number of rows of the same width, in alternating rounds. Measures the
// CPU time of the server until a query counts all rows. New series cost more than known ones, so the first write of each series is
// reported separately.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureBuiltOrExit } from '../scripts/ensure-built.mjs';
import { startServerProcess } from '../scripts/lib/server-process.mjs';
import { cpuSeconds, residentMib } from './process-figures.mjs';

const ROWS = Number(process.argv[2] ?? 2_000_000);
const COUNTS = [Number(process.argv[3] ?? 10_000), Number(process.argv[4] ?? 1_000_000)];
const BATCH_LINES = 10_000;
const START_SEC = 1_700_000_000;
const FLAGS = ['--services', 'tsdb', '--without-auth'];

const post = async (url, body) => {
  const answer = await fetch(url, { method: 'POST', body });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${text}`);
  return text;
};

/** Writes rows `[from, to)`. Consecutive rows belong to different series, and the time advances after each round over all series. */
function body(seriesCount, from, to) {
  const lines = [];
  for (let row = from; row < to; row++) {
    const host = row % seriesCount;
    const sec = START_SEC + 10 * Math.floor(row / seriesCount);
    const region = host % 10;
    const rack = host % 97;
    lines.push(
      `cpu,host=h${host},rack=k${rack},region=r${region} user=${row % 100},system=${row % 31}.5 ${sec}`,
    );
  }
  return lines.join('\n');
}

async function write({ url, pid, seriesCount, from, to }) {
  const beginSec = cpuSeconds(pid);
  for (let at = from; at < to; at += BATCH_LINES) {
    const text = body(seriesCount, at, Math.min(to, at + BATCH_LINES));
    await post(`${url}/api/v3/write_lp?db=b&precision=second`, text);
  }
  const q = encodeURIComponent('SELECT count(*) AS n FROM cpu');
  const answer = await fetch(`${url}/api/v3/query_sql?db=b&format=csv&q=${q}`);
  const count = Number((await answer.text()).split('\n')[1]);
  if (count !== to) throw new Error(`found ${count} rows, expected ${to}`);
  return cpuSeconds(pid) - beginSec;
}

await ensureBuiltOrExit();
const perRow = [];
for (const seriesCount of COUNTS) {
  const dataDir = mkdtempSync(join(tmpdir(), 'plinth-bench-series-'));
  const server = await startServerProcess({ dataDir, flags: FLAGS });
  const { url, pid } = server;
  try {
    // Both variants first write the same number of rows, so that both have the same amount in memory and on disk.
    const firstRows = Math.max(...COUNTS);
    const firstSec = await write({ url, pid, seriesCount, from: 0, to: firstRows });
    const sec = await write({ url, pid, seriesCount, from: firstRows, to: firstRows + ROWS });
    perRow.push(sec / ROWS);
    const micros = (seconds, rows) => `${((seconds / rows) * 1e6).toFixed(2)} us`;
    console.log(
      `${seriesCount} series: ${micros(sec, ROWS)} of CPU time per row; the first ${firstRows} rows ${micros(firstSec, firstRows)}; ${residentMib(pid).toFixed(0)} MiB`,
    );
  } finally {
    await server.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}
console.log(`ratio ${(perRow[1] / perRow[0]).toFixed(2)} (goal 1.5)`);
