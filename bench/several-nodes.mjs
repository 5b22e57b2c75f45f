#!/usr/bin/env node
// node bench/several-nodes.mjs [--other DIR] [--rounds 5] [--requests 2000]
// Measures the CPU time of the servers per request, on PostgreSQL and Redis (PLINTH_TEST_POSTGRES_URL, PLINTH_TEST_REDIS_URL).
// Alternates one node, two nodes with the same number of clients each, two nodes with separate databases (the cost of
// two independent processes), and one node of another build of this repository in DIR.
import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import http from 'node:http';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { ensureBuiltOrExit } from '../scripts/ensure-built.mjs';
import { cli, root } from '../scripts/lib/root.mjs';
import { startServerProcess } from '../scripts/lib/server-process.mjs';
import { cpuSeconds } from './process-figures.mjs';

/** Loads libraries that are dependencies of packages in this repository. */
const of = (name) => createRequire(path.join(root, 'packages', name, 'package.json'));
const pg = of('kernel')('pg');
const { Pool } = of('webhooks')('undici');

const { values } = parseArgs({
  options: {
    other: { type: 'string' },
    rounds: { type: 'string', default: '5' },
    requests: { type: 'string', default: '2000' },
  },
});
const roundCount = Number(values.rounds);
const requestCount = Number(values.requests);
const { PLINTH_TEST_POSTGRES_URL: postgresUrl, PLINTH_TEST_REDIS_URL: redisUrl } = process.env;
if (!postgresUrl || !redisUrl) {
  console.error('set PLINTH_TEST_POSTGRES_URL and PLINTH_TEST_REDIS_URL');
  process.exit(1);
}
/** Clients per node. With fewer clients, batches are smaller and each request costs more. */
const CLIENT_COUNT = 16;
const IDLE_MS = 5000;
const KEY = 'sk_test_0123456789abcdefghijABCDEFGH';
const JSON_TYPE = { 'content-type': 'application/json' };
process.env.PLINTH_ACCOUNTS_BOOTSTRAP_KEYS = KEY;
process.env.PLINTH_MASTER_KEY = 'one key for all the nodes of this benchmark';

await ensureBuiltOrExit();
const receiver = await startReceiver();
const subjects = [];
try {
  subjects.push(await startSubject('one node', { nodeCount: 1 }));
  if (values.other !== undefined) {
    const program = path.join(values.other, path.relative(root, cli));
    subjects.push(await startSubject('another build', { nodeCount: 1, program }));
    subjects.push(await startSubject('two of another', { nodeCount: 2, program }));
  }
  subjects.push(await startSubject('two nodes', { nodeCount: 2 }));
  subjects.push(await startSubject('two apart', { nodeCount: 2, areApart: true }));
  await measureIdle();
  for (const [name, work] of [
    ['create an account', create],
    ['accept and deliver an event', deliver],
    ['check a rate limit', decide],
    ['page of 50 items', list],
  ]) {
    await measure(name, work);
  }
} finally {
  for (const subject of subjects) await subject.close();
  receiver.server.close();
  receiver.server.closeAllConnections();
}

async function startSubject(name, { nodeCount, program = cli, areApart = false }) {
  const databases = [];
  const nodes = [];
  for (let index = 0; index < nodeCount; index++) {
    if (index === 0 || areApart) {
      databases.push(`plinth_bench_${randomUUID().replaceAll('-', '')}`);
      await asAdmin(`create database ${databases.at(-1)}`);
    }
    nodes.push(await startNode(databases.at(-1), program));
  }
  const subject = {
    name,
    nodeCount,
    appIds: [],
    cpu: () => nodes.reduce((sum, { server }) => sum + cpuSeconds(server.pid), 0),
    async send(index, method, path, { body, headers } = {}) {
      const { pool } = nodes[index % nodes.length];
      const answer = await pool.request({ method, path, headers, body });
      const text = await answer.body.text();
      if (answer.statusCode >= 300) throw new Error(`${path}: ${answer.statusCode} ${text}`);
      return text;
    },
    async close() {
      for (const { dataDir, server, pool } of nodes) {
        await pool.close();
        await server.stop();
        fs.rmSync(dataDir, { recursive: true, force: true });
      }
      for (const database of databases) await asAdmin(`drop database ${database} with (force)`);
    },
  };
  const webhook = { url: receiver.url, events: ['bench'] };
  const body = JSON.stringify({ name: 'bench', webhook });
  for (const index of databases.keys()) {
    const made = await subject.send(index, 'POST', '/ops/v1/apps', { body, headers: JSON_TYPE });
    subject.appIds.push(JSON.parse(made).id);
  }
  await sleep(3000); // background work during startup
  return subject;
}

async function startNode(database, program) {
  const url = new URL(postgresUrl);
  url.pathname = `/${database}`;
  const flags = [
    ...['--without-auth', '--services=accounts,webhooks,ratelimit,gamedata'],
    `--server-database-url=${url.href}`,
    ...['--rate-limit-store=redis', `--rate-limit-redis-url=${redisUrl}`],
    `--rate-limit-redis-prefix=bench:${database}:`,
    '--webhooks-allow-private-targets=127.0.0.0/8',
  ];
  const dataDir = fs.mkdtempSync(path.join(os.tmpdir(), 'plinth-bench-nodes-'));
  const server = await startServerProcess({ dataDir, flags, program });
  return { dataDir, server, pool: new Pool(server.url, { connections: CLIENT_COUNT }) };
}

async function create(subject) {
  const headers = () => ({
    ...JSON_TYPE,
    authorization: `Bearer ${KEY}`,
    'idempotency-key': randomUUID(),
  });
  await loop(subject, async (index) => {
    const body = JSON.stringify({ display_name: `Shop ${index}`, metadata: { order: `${index}` } });
    await subject.send(index, 'POST', '/v2/core/accounts', { body, headers: headers() });
  });
}

async function deliver(subject) {
  const wanted = receiver.count + requestCount * subject.nodeCount;
  const { appIds } = subject;
  const bodies = appIds.map((app_id) =>
    JSON.stringify({ event: 'bench', app_id, payload: { filler: 'x'.repeat(500) } }),
  );
  await loop(subject, async (index) => {
    const body = bodies[index % bodies.length];
    await subject.send(index, 'POST', '/ops/v1/events', { body, headers: JSON_TYPE });
  });
  while (receiver.count < wanted) await sleep(10);
  await sleep(500); // time to write the last records
}

async function decide(subject) {
  await loop(subject, async (index) => {
    const body = JSON.stringify({ identity: `user:${index % 500}` });
    await subject.send(index, 'POST', '/ops/v1/rate-limits/check', { body, headers: JSON_TYPE });
  });
}

async function list(subject) {
  await loop(subject, (index) =>
    subject.send(index, 'GET', `/api/items?limit=50&offset=${index % 100}`),
  );
}

async function loop({ nodeCount }, request) {
  let next = 0;
  await Promise.all(
    Array.from({ length: CLIENT_COUNT * nodeCount }, async () => {
      while (next < requestCount * nodeCount) await request(next++);
    }),
  );
}

/** Alternates the subjects. The first round is a warm-up, and ratios are computed within a round. */
async function measure(name, work) {
  const first = subjects[0];
  const micros = new Map(subjects.map((subject) => [subject, []]));
  for (const subject of subjects) await work(subject);
  for (let round = 0; round < roundCount; round++) {
    // The order is reversed in alternate rounds.
    for (const subject of round % 2 === 0 ? subjects : subjects.toReversed()) {
      const before = subject.cpu();
      await work(subject);
      const count = requestCount * subject.nodeCount;
      micros.get(subject).push(((subject.cpu() - before) / count) * 1e6);
    }
  }
  for (const subject of subjects) {
    const own = micros.get(subject);
    const ratios = own.map((each, round) => each / micros.get(first)[round]);
    console.log(
      `${name.padEnd(30)} ${subject.name.padEnd(14)} ${median(own).toFixed(0).padStart(6)} µs` +
        `   ${median(ratios).toFixed(3)} of one node (${ratios.map((each) => each.toFixed(2)).join(' ')})`,
    );
  }
}

async function measureIdle() {
  const before = subjects.map((subject) => subject.cpu());
  await sleep(IDLE_MS);
  for (const [index, subject] of subjects.entries()) {
    const share = (subject.cpu() - before[index]) / (IDLE_MS / 1000);
    console.log(`idle ${subject.name.padEnd(14)} ${(share * 100).toFixed(1)} % of a CPU`);
  }
}

function median(list) {
  const sorted = list.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}

async function startReceiver() {
  const found = { count: 0, url: '', server: undefined };
  found.server = http.createServer((request, response) => {
    request.resume().on('end', () => {
      if (request.headers['x-vendor-event'] === 'bench') found.count += 1;
      response.end('ok');
    });
  });
  await new Promise((resolve) => found.server.listen(0, '127.0.0.1', resolve));
  found.url = `http://127.0.0.1:${found.server.address().port}/`;
  return found;
}

async function asAdmin(statement) {
  const client = new pg.Client({ connectionString: postgresUrl });
  await client.connect();
  await client.query(statement);
  await client.end();
}
