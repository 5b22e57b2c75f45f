#!/usr/bin/env node
// node bench/growth.mjs [--peers DIR] [--axes rows,ten_fields,series,databases,segments] [--to N] [--out DIR]
// Measures how each figure changes as the data grow, along five axes:
// rows (1, 10, 30 million of 1,000 series), ten_fields (the same with ten fields, 8.64, 36 and 100 million), series (1e4 to 1e6 in two
// million rows), databases (1 to 1,000 in one million rows) and segments (1 to 1,000 flushes of two million rows). `--to` limits the
// largest step of every axis.
// With --peers (a folder with `victoria-metrics` and `questdb.jar`), measures those servers too.
// Prints one row per point. With --out, also writes growth.json and one chart per figure.
// Times are medians at the client. "cold" is the first query after a start, with the page cache dropped if that is permitted.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { ensureBuiltOrExit } from '../scripts/ensure-built.mjs';
import { Client } from './growth/client.mjs';
import { drawFigure } from './growth/picture.mjs';
import { SERVERS, startOne } from './growth/servers.mjs';
import { cpuSeconds, peakMib } from './process-figures.mjs';

const START_SEC = 1_704_067_200;
const STEP_SEC = 10;
const HOUR_SEC = 3600;
const BATCH_ROWS = 10_000;
const CONNECTIONS = 4;
const QUESTIONS = 15;
const CALM_MS = 3000;
const MAX_SETTLE_MS = 60_000;
const FIELDS = [
  ...['usage_user', 'usage_system', 'usage_idle', 'usage_nice', 'usage_iowait'],
  ...['usage_irq', 'usage_softirq', 'usage_steal', 'usage_guest', 'usage_guest_nice'],
];

const AXES = {
  rows: { label: 'rows', steps: [1e6, 1e7, 3e7], shape: (n) => ({ rows: n }) },
  ten_fields: {
    label: 'rows of ten fields',
    steps: [8.64e6, 3.6e7, 1e8],
    shape: (n) => ({ rows: n, fields: 10 }),
  },
  series: { label: 'series', steps: [1e4, 1e5, 1e6], shape: (n) => ({ rows: 2e6, series: n }) },
  databases: {
    label: 'databases',
    steps: [1, 10, 100, 1000],
    shape: (n) => ({ rows: 1e6, series: 10, databases: n }),
  },
  segments: {
    label: 'flushes',
    steps: [1, 10, 100, 1000],
    shape: (n) => ({ rows: 2e6, flushes: n }),
  },
};

const FIGURES = {
  write: ['CPU time per written row', 'us'],
  narrow: ['one series, one hour, by minute, warm', 'ms'],
  cold: ['one series, one hour, by minute, cold', 'ms'],
  eight: ['eight series, one hour, by minute, warm', 'ms'],
  wide: ['all series, one hour, warm', 'ms'],
  restart: ['restart to the correct count', 'ms'],
  stop: ['SIGTERM to exit', 'ms'],
  disk: ['disk per value', 'bytes'],
  memory: ['peak resident memory', 'MiB'],
};

const { values } = parseArgs({
  options: {
    peers: { type: 'string' },
    axes: { type: 'string', default: Object.keys(AXES).join(',') },
    to: { type: 'string', default: 'Infinity' },
    out: { type: 'string' },
  },
});
const names = values.peers === undefined ? ['plinth'] : Object.keys(SERVERS);
const points = [];
await ensureBuiltOrExit();
for (const axis of values.axes.split(',')) {
  for (const step of AXES[axis].steps.filter((n) => n <= Number(values.to))) {
    for (const name of names) await addPoint({ axis, step, name });
  }
}
if (values.out !== undefined) writeCharts(values.out);

async function addPoint({ axis, step, name }) {
  const shape = { series: 1000, databases: 1, flushes: 0, fields: 4, ...AXES[axis].shape(step) };
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'plinth-growth-'));
  try {
    const figures = await measure(name, shape, path.join(folder, 'data'));
    points.push({ axis, step, name, ...figures });
    const shown = Object.entries(figures).map(([key, value]) => `${key} ${value.toPrecision(3)}`);
    console.log(`${axis} ${step} ${name}: ${shown.join(', ')}`);
  } catch (error) {
    console.log(`${axis} ${step} ${name}: failed: ${error.message}`);
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

async function measure(name, shape, folder) {
  fs.mkdirSync(folder);
  const kind = SERVERS[name];
  const databases = Array.from({ length: shape.databases }, (_, i) => `b${i}`);
  const rowsEach = shape.rows / databases.length;
  const toSec = START_SEC + STEP_SEC * Math.ceil(rowsEach / shape.series);
  const about = (db) => ({ db, table: kind.table({ db }), fromSec: START_SEC, toSec });
  let server = await startOne(name, { folder, peers: values.peers });
  try {
    const client = new Client(server.url);
    const beforeSec = cpuSeconds(server.pid);
    await writeAll(client, { kind, shape, databases, rowsEach });
    for (const db of databases) await untilCounted(client, kind, about(db), rowsEach);
    await settle(server.pid);
    const write = ((cpuSeconds(server.pid) - beforeSec) / shape.rows) * 1e6;
    const questions = questionsOf(shape, about(databases.at(-1)));
    const warm = {};
    for (const [key, request] of Object.entries(questions))
      warm[key] = await timed(client, kind, request);
    const memory = peakMib(server.pid);
    client.close();
    const stop = await server.stop();
    const disk = sizeOf(folder) / (shape.rows * shape.fields);
    dropPageCache();
    const beginMs = performance.now();
    server = await startOne(name, { folder, peers: values.peers });
    const again = new Client(server.url);
    await untilCounted(again, kind, about(databases[0]), rowsEach);
    const restart = performance.now() - beginMs;
    dropPageCache();
    const cold = await timed(again, kind, (i) => questions.narrow(i + QUESTIONS), { isCold: true });
    again.close();
    return { write, ...warm, cold, restart, stop, disk, memory };
  } finally {
    await server.stop();
  }
}

/** Each series is queried once. The queried series are spread over all series. */
function questionsOf({ series }, about) {
  const { toSec } = about;
  const host = (i) => `host_${(i * 7919) % series}`;
  const lastHour = { ...about, fromSec: Math.max(START_SEC, toSec - HOUR_SEC) };
  const hosts = (i, count) => Array.from({ length: count }, (_, k) => host(i * count + k));
  return {
    narrow: (i) => ({ ...lastHour, kind: 'narrow', hosts: hosts(i, 1) }),
    eight: (i) => ({ ...lastHour, kind: 'narrow', hosts: hosts(i, 8) }),
    wide: () => ({ ...lastHour, kind: 'wide' }),
  };
}

/** @returns the median. Each cold query is the first one of its series. */
async function timed(client, kind, request, { isCold = false } = {}) {
  const times = [];
  if (!isCold) await client.json('GET', kind.request(request(0)));
  for (let i = isCold ? 0 : 1; i <= QUESTIONS; i++) {
    if (isCold) dropPageCache();
    const beginMs = performance.now();
    const answer = await client.json('GET', kind.request(request(i)));
    times.push(performance.now() - beginMs);
    if (!(kind.rowsIn(answer) > 0)) throw new Error(`no rows for ${kind.request(request(i))}`);
  }
  return times.sort((a, b) => a - b)[times.length >> 1];
}

async function writeAll(client, { kind, shape, databases, rowsEach }) {
  const batches = [];
  const size = Math.min(BATCH_ROWS, rowsEach, shape.rows / Math.max(1, shape.flushes));
  for (const db of databases) {
    for (let from = 0; from < rowsEach; from += size) batches.push({ db, from });
  }
  const flushEvery = shape.flushes === 0 ? 0 : batches.length / shape.flushes;
  let next = 0;
  const sender = async () => {
    while (next < batches.length) {
      const number = next++;
      const { db, from } = batches[number];
      const lines = body(kind.table({ db }), shape, from, Math.min(from + size, rowsEach));
      await client.call('POST', kind.write({ db }), lines);
      const isDue = flushEvery > 0 && Math.floor((number + 1) % flushEvery) === 0;
      if (isDue) await kind.flush?.(client);
    }
  };
  // A flush follows each batch, so batches are sent sequentially.
  await Promise.all(Array.from({ length: flushEvery > 0 ? 1 : CONNECTIONS }, sender));
}

/** Returns rows `[from, to)`. Consecutive rows belong to different series, and the time advances after each round over all series. */
function body(table, { series, fields }, from, to) {
  const names = FIELDS.slice(0, fields);
  const lines = [];
  for (let row = from; row < to; row++) {
    const host = row % series;
    const at = START_SEC + STEP_SEC * Math.floor(row / series);
    const cells = names.map((field, salt) => `${field}=${hash(row, salt) % 101}`);
    lines.push(`${table},host=host_${host},region=r${host % 10} ${cells.join(',')} ${at}`);
  }
  return lines.join('\n');
}

/** Returns the same pseudo-random number for the same arguments in every run. */
function hash(row, salt) {
  const mixed = Math.imul((row * 31 + salt) ^ (row >>> 7), 0x9e3779b1);
  return (mixed ^ (mixed >>> 15)) >>> 8;
}

async function untilCounted(client, kind, about, wanted) {
  const lateMs = performance.now() + MAX_SETTLE_MS;
  let count;
  while (performance.now() < lateMs) {
    // Rows and new tables may become visible some time after the response.
    const { status, text } = await client.send('GET', kind.count(about));
    if (status === 200) count = kind.counted(JSON.parse(text));
    if (count === wanted) return;
    await sleep(20);
  }
  throw new Error(`found ${count} rows, expected ${wanted}`);
}

/** Waits until the server is almost idle for three seconds. */
async function settle(pid) {
  const lateMs = performance.now() + MAX_SETTLE_MS;
  let calmMs = 0;
  for (let last = cpuSeconds(pid); calmMs < CALM_MS && performance.now() < lateMs; ) {
    await sleep(1000);
    const now = cpuSeconds(pid);
    calmMs = now - last < 0.03 ? calmMs + 1000 : 0;
    last = now;
  }
}

function dropPageCache() {
  try {
    fs.writeFileSync('/proc/sys/vm/drop_caches', '1');
  } catch {
    // Only root may drop the page cache. Otherwise "cold" means after a start.
  }
}

function sizeOf(folder) {
  let bytes = 0;
  for (const entry of fs.readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    bytes += fs.statSync(path.join(entry.parentPath ?? entry.path, entry.name)).blocks * 512;
  }
  return bytes;
}

function writeCharts(folder) {
  fs.mkdirSync(folder, { recursive: true });
  const machine = `${os.availableParallelism()} cores, Node ${process.versions.node}`;
  fs.writeFileSync(
    path.join(folder, 'growth.json'),
    `${JSON.stringify({ at: new Date().toISOString(), machine, points }, undefined, 1)}\n`,
  );
  for (const axis of new Set(points.map((point) => point.axis))) {
    for (const [key, [title, unit]] of Object.entries(FIGURES)) {
      const own = points.filter((point) => point.axis === axis && Number.isFinite(point[key]));
      if (own.length === 0) continue;
      const lines = Object.fromEntries(
        names.map((name) => [
          name,
          own.filter((point) => point.name === name).map((point) => [point.step, point[key]]),
        ]),
      );
      const chart = drawFigure({ title, unit, axis: AXES[axis].label, lines });
      fs.writeFileSync(path.join(folder, `${axis}-${key}.svg`), chart);
    }
  }
}
