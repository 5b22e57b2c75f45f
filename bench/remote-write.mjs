#!/usr/bin/env node
// node bench/remote-write.mjs [--samples N] [--batch N] [--metrics N] [--hosts N] [--rounds N]
// Writes the same samples in line protocol, by Prometheus remote write and in OTLP, each to a new server and by turns, and prints values per
// second of the server's CPU time, and how fast remote read returns all samples. They are those of hosts with metrics of node_exporter, by default
// 200 each; a metric is a table.
import fs from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { snappyCompress } from 'hyparquet-writer/src/snappy.js';
import protobuf from 'protobufjs/minimal.js';
import { ensureBuiltOrExit } from '../scripts/ensure-built.mjs';
import { HttpClient } from '../scripts/lib/http-client.mjs';
import { startServerProcess } from '../scripts/lib/server-process.mjs';
import { cpuSeconds } from './process-figures.mjs';

const { values } = parseArgs({
  options: {
    samples: { type: 'string', default: '4000000' },
    batch: { type: 'string', default: '2000' },
    metrics: { type: 'string', default: '200' },
    hosts: { type: 'string', default: '100' },
    rounds: { type: 'string', default: '3' },
  },
});
const HOST_COUNT = Number(values.hosts);
const METRIC_COUNT = Number(values.metrics);
const START_MS = 1_704_067_200_000;
const STEP_MS = 15_000;
const IN_FLIGHT = 4;
const READ_PASSES = 5;
const batchSize = Number(values.batch);

const series = Array.from({ length: METRIC_COUNT * HOST_COUNT }, (_, i) => ({
  metric: `node_metric_${i % METRIC_COUNT}_seconds_total`,
  labels: [
    ['cpu', `${i % 8}`],
    ['instance', `host-${Math.floor(i / METRIC_COUNT)}.example.com:9100`],
    ['job', 'node'],
    ['mode', ['idle', 'user', 'system', 'iowait'][i % 4]],
  ],
}));
const sampleOf = (n) => ({
  series: series[n % series.length],
  timeMs: START_MS + STEP_MS * Math.floor(n / series.length),
  value: ((Math.imul(n, 0x9e3779b1) >>> 8) % 1_000_000) / 100,
});

const lines = (samples) =>
  Buffer.from(
    samples
      .map(({ series: { metric, labels }, timeMs, value }) => {
        const tags = labels.map(([name, text]) => `,${name}=${text}`).join('');
        return `${metric}${tags} value=${value} ${timeMs}`;
      })
      .join('\n'),
  );

function request(samples) {
  const writer = new protobuf.Writer();
  for (const {
    series: { metric, labels },
    timeMs,
    value,
  } of samples) {
    writer.uint32(10).fork();
    for (const [name, text] of [['__name__', metric], ...labels])
      writer.uint32(10).fork().uint32(10).string(name).uint32(18).string(text).ldelim();
    writer.uint32(18).fork().uint32(9).double(value).uint32(16).int64(timeMs).ldelim();
    writer.ldelim();
  }
  return snappyCompress(writer.finish());
}

/** A resource for each host in the batch, with one gauge of one point for each of its metrics. */
function otlpRequest(samples) {
  const attribute = (writer, tag, [name, text]) =>
    writer
      .uint32(tag)
      .fork()
      .uint32(10)
      .string(name)
      .uint32(18)
      .fork()
      .uint32(10)
      .string(text)
      .ldelim()
      .ldelim();
  const writer = new protobuf.Writer();
  const byHost = new Map();
  for (const sample of samples) {
    const host = sample.series.labels[1][1];
    if (!byHost.has(host)) byHost.set(host, []);
    byHost.get(host).push(sample);
  }
  for (const ofHost of byHost.values()) {
    const [, instance, job] = ofHost[0].series.labels;
    writer.uint32(10).fork().uint32(10).fork();
    for (const label of [instance, job]) attribute(writer, 10, label);
    writer.ldelim().uint32(18).fork();
    for (const {
      series: {
        metric,
        labels: [cpu, , , mode],
      },
      timeMs,
      value,
    } of ofHost) {
      writer.uint32(18).fork().uint32(10).string(metric).uint32(42).fork().uint32(10).fork();
      for (const label of [cpu, mode]) attribute(writer, 58, label);
      writer
        .uint32(25)
        .fixed64(timeMs * 1e6)
        .uint32(33)
        .double(value);
      writer.ldelim().ldelim().ldelim();
    }
    writer.ldelim().ldelim();
  }
  return writer.finish();
}

const FORMATS = {
  'line protocol': { target: '/write?db=bench&precision=ms', encode: lines, headers: {} },
  'remote write': {
    target: '/api/v1/write?db=bench',
    encode: request,
    headers: { 'content-type': 'application/x-protobuf', 'content-encoding': 'snappy' },
    reads: true,
  },
  OTLP: {
    target: '/v1/metrics?db=bench',
    encode: otlpRequest,
    headers: { 'content-type': 'application/x-protobuf' },
  },
};

/** Prints how fast all samples are read: as samples (type 0) or as streamed chunks (type 1). Best of some passes. */
async function measureRead({ url, pid }, type) {
  const writer = new protobuf.Writer()
    .uint32(10)
    .fork()
    .uint32(16)
    .int64(START_MS * 2);
  writer.uint32(26).fork().uint32(8).int32(2).uint32(18).string('__name__');
  writer.uint32(26).string('node_.+').ldelim().ldelim().uint32(16).int32(type);
  const body = snappyCompress(writer.finish());
  let seconds = Number.POSITIVE_INFINITY;
  let cpu = Number.POSITIVE_INFINITY;
  for (let pass = 0; pass < READ_PASSES; pass++) {
    const cpuBefore = cpuSeconds(pid);
    const started = performance.now();
    const response = await fetch(`${url}/api/v1/read?db=bench`, { method: 'POST', body });
    if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
    await response.arrayBuffer();
    seconds = Math.min(seconds, (performance.now() - started) / 1000);
    cpu = Math.min(cpu, cpuSeconds(pid) - cpuBefore);
  }
  const count = Number(values.samples) + 2 * series.length;
  const name = ['samples', 'chunks'][type];
  const rate = (sec) => Math.round(count / sec).toLocaleString('en');
  console.log(
    `remote read, ${name}: ${rate(seconds)} samples/s, ${rate(cpu)} samples per CPU second`,
  );
}

/** @returns values per second of the server's CPU time. */
async function measure({ target, encode, headers, reads }) {
  const dataDir = fs.mkdtempSync(path.join(tmpdir(), 'plinth-bench-'));
  const server = await startServerProcess({ dataDir, flags: ['--without-auth'] });
  try {
    const client = new HttpClient(server.url);
    let next = 0;
    const count = Number(values.samples);
    // The first pass creates tables and series, and lets the runtime compile the code.
    const warmUp = 2 * series.length;
    const send = async (from, end) => {
      next = from;
      const sender = async () => {
        while (next < end) {
          const start = next;
          next = Math.min(end, start + batchSize);
          const samples = Array.from({ length: next - start }, (_, i) => sampleOf(start + i));
          const answer = await client.call('POST', target, { body: encode(samples), headers });
          // A partial success of OTLP has a body.
          if (answer.status > 204 || answer.text !== '')
            throw new Error(`${answer.status} ${answer.text}`);
        }
      };
      await Promise.all(Array.from({ length: IN_FLIGHT }, sender));
    };
    await send(0, warmUp);
    const before = cpuSeconds(server.pid);
    await send(warmUp, warmUp + count);
    const rate = count / (cpuSeconds(server.pid) - before);
    if (reads) for (const type of [0, 1]) await measureRead(server, type);
    return rate;
  } finally {
    await server.kill();
    fs.rmSync(dataDir, { recursive: true, force: true });
  }
}

await ensureBuiltOrExit();
const best = new Map();
for (let round = 0; round < Number(values.rounds); round++)
  for (const [name, format] of Object.entries(FORMATS)) {
    const rate = await measure(format);
    best.set(name, Math.max(rate, best.get(name) ?? 0));
    console.log(`${name}: ${Math.round(rate).toLocaleString('en')} values per CPU second`);
  }
for (const name of ['remote write', 'OTLP']) {
  const ratio = best.get(name) / best.get('line protocol');
  console.log(`${name} : line protocol = ${(100 * ratio).toFixed(0)} % (best of each)`);
}
