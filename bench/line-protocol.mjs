#!/usr/bin/env node
// node bench/line-protocol.mjs [--file FILE.lp] [--reps N]: measures the line protocol parser on one thread.
// Build first (npx tsc -b). Figures are CPU time, best of N passes. Bodies have the size of typical client batches.
import fs from 'node:fs';
import { parseArgs } from 'node:util';
import { LineProtocolParser } from '../packages/tsdb-ingest/dist/line-protocol-parser.js';

const { values } = parseArgs({
  options: { file: { type: 'string' }, reps: { type: 'string', default: '5' } },
});
const BATCH_ROWS = 5000;
const START_NS = 1_704_067_200_000_000_000n;

/** Returns `count` lines of `makeLine(i)`, joined into bodies of `BATCH_ROWS` lines. */
function bodies(count, makeLine) {
  const out = [];
  for (let from = 0; from < count; from += BATCH_ROWS) {
    const size = Math.min(BATCH_ROWS, count - from);
    out.push(
      Buffer.from(Array.from({ length: size }, (_, i) => makeLine(from + i)).join('\n') + '\n'),
    );
  }
  return { rowCount: count, bodies: out };
}

const random = (i, salt) => (Math.imul(i * 31 + salt, 0x9e3779b1) >>> 8) / 2 ** 24;
const timeOf = (i, perStep) => START_NS + 10_000_000_000n * BigInt(Math.floor(i / perStep));
const tags = (host) =>
  Array.from({ length: 9 }, (_, t) => `tag_number_${t}=value-${(host * 7 + t) % 97}`).join(',');
const fields = (i, make) =>
  Array.from({ length: 10 }, (_, f) => `usage_f${f}=${make(random(i, f))}`).join(',');

const CASES = {
  'devops, 100 hosts, 10 tags, 10 ints': () =>
    bodies(
      100_000,
      (i) =>
        `cpu,host=host_${i % 100},${tags(i % 100)} ${fields(i, (x) => `${Math.floor(x * 100)}i`)} ${timeOf(i, 100)}`,
    ),
  '100 hosts, 10 tags, 10 floats': () =>
    bodies(
      100_000,
      (i) =>
        `cpu,host=host_${i % 100},${tags(i % 100)} ${fields(i, (x) => (x * 100).toFixed(5))} ${timeOf(i, 100)}`,
    ),
  'high cardinality, every series new': () =>
    bodies(
      100_000,
      (i) =>
        `req,pod=pod-${i},ns=ns-${i % 50},app=app-${i % 300},path=/api/v1/r${i % 20},status=200 count=${i % 500}i,latency=${(random(i, 1) * 9).toFixed(3)} ${timeOf(i, 100)}`,
    ),
  'strings and booleans': () =>
    bodies(
      100_000,
      (i) =>
        `log,host=h${i % 50} message="request ${i} took ${i % 97} ms, status=200",ok=${i % 3 ? 'true' : 'f'} ${timeOf(i, 50)}`,
    ),
};

function measure(name, { rowCount, bodies: all }) {
  const options = { database: 'bench', precision: 'nanosecond', receivedNs: START_NS };
  const sizeBytes = all.reduce((sum, body) => sum + body.length, 0);
  let best = Number.POSITIVE_INFINITY;
  for (let rep = 0; rep < Number(values.reps); rep++) {
    const parser = new LineProtocolParser();
    const start = process.cpuUsage();
    let refused = 0;
    for (const body of all) refused += parser.parse(body, options).refusedCount;
    const used = process.cpuUsage(start);
    if (refused > 0) throw new Error(`${name}: ${refused} lines rejected`);
    best = Math.min(best, used.user + used.system);
  }
  print(name, best / rowCount, sizeBytes / best);
}

function measureSmallBody() {
  const options = { database: 'bench', precision: 'nanosecond', receivedNs: START_NS };
  const body = Buffer.from(
    `cpu,host=a,${tags(1)} ${fields(1, (x) => `${Math.floor(x * 100)}i`)} ${START_NS}`,
  );
  const parser = new LineProtocolParser();
  const count = 200_000;
  let best = Number.POSITIVE_INFINITY;
  for (let rep = 0; rep < 3; rep++) {
    const start = process.cpuUsage();
    for (let i = 0; i < count; i++) parser.parse(body, options);
    const used = process.cpuUsage(start);
    best = Math.min(best, used.user + used.system);
  }
  print('one-line bodies without newline', best / count, (body.length * count) / best);
}

function print(name, microsPerRow, mbPerSec) {
  console.log(
    `${name.padEnd(40)} ${microsPerRow.toFixed(3).padStart(8)} us/row ${mbPerSec.toFixed(0).padStart(6)} MB/s`,
  );
}

function fileBodies(path) {
  const data = fs.readFileSync(path);
  const out = [];
  let rowCount = 0;
  for (let start = 0; start < data.length; ) {
    const end = data.indexOf(10, Math.min(start + 1_700_000, data.length - 1)) + 1 || data.length;
    const body = Buffer.from(data.subarray(start, end));
    for (let at = body.indexOf(10); at >= 0; at = body.indexOf(10, at + 1)) rowCount++;
    out.push(body);
    start = end;
  }
  return { rowCount, bodies: out };
}

if (values.file !== undefined) measure(values.file, fileBodies(values.file));
else {
  for (const [name, make] of Object.entries(CASES)) measure(name, make());
  measureSmallBody();
}
