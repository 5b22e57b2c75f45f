#!/usr/bin/env node
// plugins.mjs [seconds]   measures the processing engine; prints one line per figure. Needs a build and python3.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { Agent, request } from 'node:http';
import { cpus, loadavg, tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ensureBuiltOrExit } from '../scripts/ensure-built.mjs';
import { startServerProcess } from '../scripts/lib/server-process.mjs';
import { residentMib } from './process-figures.mjs';

const seconds = Number(process.argv[2] ?? 5);
const DB = 'bench';
const TRIGGER = '/api/v3/configure/processing_engine_trigger';
const ROWS = 10_000;
const CLIENTS = 50;
const REQUESTS_PER_SEC = 500;
const INGEST_ROUNDS = 4;

const PLUGINS = {
  // The plugin reads the clock in its first statement.
  'arrival.py': `
def process_writes(influxdb3_local, table_batches, args=None):
    import time
    now = time.time_ns()
    influxdb3_local.info("arrived", now, sum(len(batch["rows"]) for batch in table_batches))
`,
  'nothing.py': `
def process_writes(influxdb3_local, table_batches, args=None):
    pass
def process_scheduled_call(influxdb3_local, call_time, args=None):
    pass
def process_request(influxdb3_local, query_parameters, request_headers, request_body, args=None):
    return {"ok": True}
`,
};

await ensureBuiltOrExit();
const dataDir = fs.mkdtempSync(path.join(tmpdir(), 'plinth-bench-'));
const folder = fs.mkdtempSync(path.join(tmpdir(), 'plinth-bench-plugins-'));
for (const [name, source] of Object.entries(PLUGINS)) {
  fs.writeFileSync(path.join(folder, name), source);
}
const server = await startServerProcess({
  dataDir,
  flags: ['--without-auth', '--services', 'tsdb', '--plugin-dir', folder],
});
const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS });
try {
  report('machine', `${cpus().length} cores, load ${loadavg()[0].toFixed(1)}`);
  await write('seed f=1 1');
  await benchDelay();
  await schedule();
  await requests();
  await ingest();
} finally {
  agent.destroy();
  await server.kill();
  fs.rmSync(dataDir, { recursive: true, force: true });
  fs.rmSync(folder, { recursive: true, force: true });
}

/** Measures the time from the write response to the first statement of the function. */
async function benchDelay() {
  await create('arrival', 'arrival.py', 'table:wide');
  const times = [];
  for (let round = 0; round < 12; round++) {
    const lines = [];
    for (let i = 0; i < ROWS; i++) {
      const fields = `a=${i}.5,b=${i * 2}.25,n=${i}i,ok=${i % 2 === 0}`;
      lines.push(
        `wide,host=h${i % 100},region=r${i % 5},rack=k${i % 20} ${fields} ${round * ROWS + i}`,
      );
    }
    const body = lines.join('\n');
    await write(body);
    const answeredMs = performance.timeOrigin + performance.now();
    const line = await lastLog('arrival', 'arrived', round + 1);
    const [, atNs, count] = line.split(' ');
    if (Number(count) !== ROWS) throw new Error(`rows arrived in several calls: ${line}`);
    times.push(Number(BigInt(atNs) / 1000n) / 1000 - answeredMs);
  }
  report(`${ROWS} rows of 8 columns, written to function`, quantiles(times.slice(2)));
  const pid = childOf('python');
  report('worker after these rows', `${residentMib(pid).toFixed(1)} MiB`);
  await remove('arrival');
}

async function schedule() {
  await create('tick', 'nothing.py', 'every:100ms');
  await sleep(Math.max(3, seconds) * 1000);
  const pid = childOf('python');
  report('idle trigger', `${residentMib(pid).toFixed(1)} MiB`);
  const rows = await sql(
    "SELECT log_text FROM system.processing_engine_logs WHERE trigger_name = 'tick' AND log_text LIKE 'finished%'",
  );
  const times = rows.map(({ log_text }) =>
    durationMs(log_text.slice('finished execution in '.length)),
  );
  report('complete run of a schedule', quantiles(times.slice(2)));
  await remove('tick');
}

async function requests() {
  for (const run_async of [false, true]) {
    const kind = run_async ? 'asynchronous' : 'synchronous';
    const name = `ask_${kind}`;
    await create(name, 'nothing.py', `request:${name}`, { trigger_settings: { run_async } });
    const request = async () => {
      const startMs = performance.now();
      const answer = await send(`/api/v3/engine/${name}`);
      if (answer.status !== 200) throw new Error(answer.text);
      return performance.now() - startMs;
    };
    for (let i = 0; i < 200; i++) await request();
    const paced = await atRate(request);
    report(`${kind} request, ${CLIENTS} clients, ${REQUESTS_PER_SEC}/s`, quantiles(paced));
    const busy = await atOnce(request);
    const rate = Math.round(busy.length / seconds);
    report(`${kind} request, ${CLIENTS} clients without a pause`, `${rate}/s, ${quantiles(busy)}`);
    await remove(name);
  }
}

/** Each client sends requests at its own fixed rate. */
async function atRate(request) {
  const times = [];
  const pauseMs = (1000 * CLIENTS) / REQUESTS_PER_SEC;
  const endMs = performance.now() + seconds * 1000;
  await Promise.all(
    Array.from({ length: CLIENTS }, async (_, client) => {
      let nextMs = performance.now() + (pauseMs * client) / CLIENTS;
      while (nextMs < endMs) {
        await sleep(Math.max(0, nextMs - performance.now()));
        times.push(await request());
        nextMs += pauseMs;
      }
    }),
  );
  return times;
}

async function atOnce(request) {
  const times = [];
  const endMs = performance.now() + seconds * 1000;
  await Promise.all(
    Array.from({ length: CLIENTS }, async () => {
      while (performance.now() < endMs) times.push(await request());
    }),
  );
  return times;
}

/** The two variants alternate, so that other load on the machine affects both. */
async function ingest() {
  await create('trivial', 'nothing.py', 'table:with');
  const rates = { without: [], with: [] };
  for (let round = 0; round < INGEST_ROUNDS; round++) {
    for (const table of ['without', 'with']) rates[table].push(await ingestFor(table, round));
  }
  const best = (list) => Math.max(...list);
  const [plain, triggered] = [best(rates.without), best(rates.with)];
  const share = ((triggered / plain) * 100).toFixed(0);
  report(
    'ingest',
    `${Math.round(plain)} rows/s, with a write trigger ${Math.round(triggered)}: ${share} %`,
  );
  await remove('trivial');
}

async function ingestFor(table, round) {
  const bodies = Array.from({ length: 20 }, (_, piece) => {
    const lines = [];
    for (let i = 0; i < 5000; i++) {
      const n = (round * 20 + piece) * 5000 + i;
      lines.push(`${table},host=h${i % 100},region=r${i % 5} a=${n}.5,b=${i}.25,n=${n}i ${n}`);
    }
    return lines.join('\n');
  });
  const startMs = performance.now();
  let next = 0;
  await Promise.all(
    Array.from({ length: 4 }, async () => {
      while (next < bodies.length) await write(bodies[next++]);
    }),
  );
  const rate = (bodies.length * 5000) / ((performance.now() - startMs) / 1000);
  await sleep(500); // Waits until the trigger is done, so that its work is not counted in the next round.
  return rate;
}

function send(target, { method = 'GET', body, headers = {} } = {}) {
  return new Promise((resolve, reject) => {
    const sent = request(new URL(target, server.url), { agent, method, headers }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (piece) => {
        text += piece;
      });
      answer.on('end', () => resolve({ status: answer.statusCode, text }));
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

async function create(trigger_name, plugin_filename, trigger_specification, more = {}) {
  const trigger = { db: DB, trigger_name, plugin_filename, trigger_specification, ...more };
  const answer = await send(TRIGGER, {
    method: 'POST',
    body: JSON.stringify(trigger),
    headers: { 'content-type': 'application/json' },
  });
  if (answer.status !== 200) throw new Error(answer.text);
}

async function remove(name) {
  const path = `${TRIGGER}?db=${DB}&trigger_name=${name}&force=true`;
  await send(path, { method: 'DELETE' });
}

async function write(body) {
  const path = `/api/v3/write_lp?db=${DB}&precision=ns`;
  const answer = await send(path, { method: 'POST', body });
  if (answer.status !== 204) throw new Error(answer.text);
}

async function sql(q) {
  const parameters = new URLSearchParams({ db: DB, q, format: 'json_rows' });
  return JSON.parse((await send(`/api/v3/query_sql?${parameters}`)).text);
}

async function lastLog(trigger, word, count) {
  for (;;) {
    const rows = await sql(
      `SELECT log_text FROM system.processing_engine_logs WHERE trigger_name = '${trigger}' AND log_text LIKE '${word}%' ORDER BY event_time`,
    );
    if (rows.length >= count) return rows.at(-1).log_text;
    await sleep(20);
  }
}

/** Parses a duration such as `1ms 234us 567ns`. */
function durationMs(text) {
  const units = { s: 1000, ms: 1, us: 1e-3, ns: 1e-6 };
  return text
    .split(' ')
    .map((part) => /^(\d+)([a-z]+)$/.exec(part))
    .reduce((sum, [, digits, unit]) => sum + Number(digits) * units[unit], 0);
}

/** Returns the PID of the newest child process of the server with this program name. */
function childOf(program) {
  const found = spawnSync('pgrep', ['-P', String(server.pid), '-f', program]);
  return Number(found.stdout.toString().trim().split('\n').at(-1));
}

function quantiles(times) {
  const sorted = [...times].sort((a, b) => a - b);
  const at = (q) => sorted[Math.floor(q * (sorted.length - 1))].toFixed(2);
  return `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms (${sorted.length})`;
}

function report(what, figure) {
  process.stdout.write(`${what}: ${figure}\n`);
}
