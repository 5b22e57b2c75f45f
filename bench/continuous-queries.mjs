#!/usr/bin/env node
// node bench/continuous-queries.mjs [queries] [minutes]
// Measures the CPU time of continuous queries of one minute, each over one of as many hosts. Writes a row of each host every ten seconds, first
// without the queries and then with them, and compares the CPU time of the server. The goal for 500 queries is at most 10 % of one core.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ensureBuiltOrExit } from '../scripts/ensure-built.mjs';
import { HttpClient } from '../scripts/lib/http-client.mjs';
import { startServerProcess } from '../scripts/lib/server-process.mjs';
import { cpuSeconds } from './process-figures.mjs';

const QUERIES = Number(process.argv[2] ?? 500);
const MINUTES = Number(process.argv[3] ?? 3);
const WRITES_PER_MINUTE = 6;
const GOAL = 0.1;

await ensureBuiltOrExit();
const dataDir = mkdtempSync(join(tmpdir(), 'plinth-bench-continuous-'));
const server = await startServerProcess({ dataDir, flags: ['--without-auth'] });
const client = new HttpClient(server.url);

async function influxql(q) {
  const { text } = await client.call('POST', '/query', { query: { db: 'b', q, epoch: 's' } });
  const [result] = JSON.parse(text).results;
  if (result.error !== undefined) throw new Error(result.error);
  return result.series?.[0]?.values ?? [];
}

/** Starts in the middle of a minute, so that all runs of a minute are complete at the end. @returns CPU seconds per minute. */
async function measure() {
  await sleep(90_000 - (Date.now() % 60_000));
  const before = cpuSeconds(server.pid);
  for (let i = 0; i < MINUTES * WRITES_PER_MINUTE; i++) {
    const sec = Math.floor(Date.now() / 1000);
    const lines = Array.from(
      { length: QUERIES },
      (_, h) => `cpu,host=h${h} user=${i},idle=1 ${sec}`,
    );
    await client.write('b', lines.join('\n'), 's');
    await sleep(60_000 / WRITES_PER_MINUTE - 50);
  }
  return (cpuSeconds(server.pid) - before) / MINUTES;
}

try {
  await client.write('b', 'cpu,host=h0 user=1 1', 's');
  const without = await measure();
  for (let h = 0; h < QUERIES; h++)
    await influxql(
      `CREATE CONTINUOUS QUERY q${h} ON b BEGIN SELECT mean("user") INTO cpu_1m FROM cpu WHERE host = 'h${h}' GROUP BY time(1m), host END`,
    );
  const minutes = MINUTES + 1;
  const found = await measure();
  const [[, count] = []] = await influxql('SELECT count(mean) FROM cpu_1m');
  const share = (found - without) / 60;
  console.log(
    `without: ${without.toFixed(2)} CPU s per minute; with ${QUERIES} queries: ${found.toFixed(2)}`,
  );
  console.log(
    `${QUERIES} continuous queries use ${(share * 100).toFixed(1)} % of one core, ` +
      `${((share * 60_000) / QUERIES).toFixed(2)} ms per run; ${count} results in ${minutes} minutes`,
  );
  process.exitCode = share > GOAL ? 1 : 0;
} finally {
  await server.stop();
  rmSync(dataDir, { recursive: true, force: true });
}
