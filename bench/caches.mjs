#!/usr/bin/env node
// node bench/caches.mjs [series]
// Measures the caches: memory per series, ingest overhead, and the latency of one key through SQL over HTTP.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureBuiltOrExit } from '../scripts/ensure-built.mjs';
import { startServerProcess } from '../scripts/lib/server-process.mjs';

const SERIES = Number(process.argv[2] ?? 1_000_000);
const BATCH_LINES = 20_000;
const READS = 500;
const ROUNDS = 6;

const dataDir = mkdtempSync(join(tmpdir(), 'plinth-bench-'));
await ensureBuiltOrExit();
const flags = ['--services', 'tsdb', '--without-auth'];
const server = await startServerProcess({ dataDir, flags });
const { url } = server;

const post = async (path, body, type = 'text/plain') => {
  const answer = await fetch(`${url}${path}`, {
    method: 'POST',
    body,
    headers: { 'content-type': type },
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text}`);
  return text;
};
const sql = (q) => post('/api/v3/query_sql', JSON.stringify({ db: 'b', q, format: 'json_rows' }));

/** Returns the request bodies of one round over all series. Tables with the same rows differ only by name. */
function* bodies(table, round) {
  for (let from = 0; from < SERIES; from += BATCH_LINES) {
    const lines = [];
    for (let i = from; i < Math.min(SERIES, from + BATCH_LINES); i++) {
      lines.push(
        `${table},region=r${i % 10},host=h${i} value=${i + round}.5 ${1_700_000_000 + round}`,
      );
    }
    yield lines.join('\n');
  }
}
async function writeRound(table, round) {
  const all = [...bodies(table, round)];
  const startMs = performance.now();
  for (const body of all) await post('/api/v3/write_lp?db=b&precision=s', body);
  return SERIES / ((performance.now() - startMs) / 1000);
}
const metric = async (name, kind) => {
  const page = await (await fetch(`${url}/metrics`)).text();
  return Number(new RegExp(`^${name}{kind="${kind}"} (\\S+)$`, 'm').exec(page)?.[1]);
};
const json = 'application/json';

try {
  await writeRound('plain', 0);
  await writeRound('cached', 0);
  const fillMs = performance.now();
  await post('/api/v3/configure/last_cache', JSON.stringify({ db: 'b', table: 'cached' }), json);
  const distinct = { db: 'b', table: 'cached', columns: ['region'], max_age: 1e10 };
  await post('/api/v3/configure/distinct_cache', JSON.stringify(distinct), json);
  await sql("SELECT count(*) AS n FROM last_cache('cached') WHERE host = 'h1' AND region = 'r1'");
  console.log(`filled from stored rows in ${((performance.now() - fillMs) / 1000).toFixed(1)} s`);
  // The two variants alternate, so that other load on the machine affects both.
  const rates = { plain: [], cached: [] };
  for (let round = 1; round <= ROUNDS; round++) {
    for (const table of ['plain', 'cached']) rates[table].push(await writeRound(table, round));
  }
  const best = (list) => Math.max(...list);
  const [plain, cached] = [best(rates.plain), best(rates.cached)];
  console.log(
    `ingest ${Math.round(plain)} rows/s, with both caches ${Math.round(cached)} rows/s: ${((1 - cached / plain) * 100).toFixed(1)} % less`,
  );
  const bytes = await metric('plinth_tsdb_cache_bytes', 'last');
  const entries = await metric('plinth_tsdb_cache_entries', 'last');
  console.log(`last cache: ${entries} series, ${(bytes / entries).toFixed(0)} bytes each`);
  const times = [];
  for (let i = 0; i < READS; i++) {
    const key = (i * 7919) % SERIES;
    const q = `SELECT value FROM last_cache('cached') WHERE region = 'r${key % 10}' AND host = 'h${key}'`;
    const startMs = performance.now();
    const [row] = JSON.parse(await sql(q));
    times.push(performance.now() - startMs);
    if (row.value !== key + ROUNDS + 0.5)
      throw new Error(`unexpected value for ${key}: ${row.value}`);
  }
  times.sort((a, b) => a - b);
  const inside = JSON.parse(
    await sql(
      "SELECT approx_percentile_cont(CAST(end2end_duration AS BIGINT), 0.5) AS p50 FROM system.queries WHERE query_text LIKE 'SELECT value%'",
    ),
  );
  console.log(
    `one key: p50 ${times[READS / 2].toFixed(2)} ms over HTTP, ${(inside[0].p50 / 1e6).toFixed(2)} ms at the server`,
  );
} finally {
  await server.kill();
  rmSync(dataDir, { recursive: true, force: true });
}
