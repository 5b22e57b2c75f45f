#!/usr/bin/env node
// webhooks-scale.mjs [--records 5000000] [--queued 1000000] [--seconds 10]
// Measures the webhook service with many delivery records and a long queue: list pages, list filters, and how a server resumes the
// queue after kill -9. Rows are inserted directly into the store, which takes minutes instead of hours.
import { createSign } from 'node:crypto';
import fs from 'node:fs';
import http from 'node:http';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { ensureBuiltOrExit } from '../scripts/ensure-built.mjs';
import { root } from '../scripts/lib/root.mjs';
import { startServerProcess } from '../scripts/lib/server-process.mjs';
import { cpuSeconds, residentMib } from './process-figures.mjs';

const { values } = parseArgs({
  options: {
    records: { type: 'string', default: '5000000' },
    queued: { type: 'string', default: '1000000' },
    seconds: { type: 'string', default: '10' },
    'data-dir': { type: 'string' },
  },
});
const recordCount = Number(values.records);
const queuedCount = Number(values.queued);
const STEP = 100_000;
const EPOCH_MS = 1_735_689_600_000;
const FLAGS = [
  '--without-auth',
  '--services=webhooks',
  '--webhooks-allow-private-targets=127.0.0.0/8',
];
const agent = new http.Agent({ keepAlive: true, maxSockets: 8, timeout: 60_000 });

await ensureBuiltOrExit();
const dataDir = values['data-dir'] ?? fs.mkdtempSync(path.join(os.tmpdir(), 'plinth-bench-scale-'));
const receiver = await startReceiver();
let server = await startServerProcess({ dataDir, flags: FLAGS });
try {
  const past = await makeApp('past');
  const waiting = await makeApp('waiting');
  await server.stop();
  seed(past.id, waiting.id);
  await measureQueue(waiting);
  await measureLists(past);
} finally {
  await server.kill();
  receiver.close();
  receiver.closeAllConnections();
  agent.destroy();
  if (values['data-dir'] === undefined) fs.rmSync(dataDir, { recursive: true, force: true });
}

/** Inserts delivery records of thirty days and a queue of small payloads. One record in 50 is a failure and one in 100 a redelivery. */
function seed(pastId, waitingId) {
  const Database = createRequire(path.join(root, 'packages/kernel/package.json'))('libsql');
  const database = new Database(path.join(dataDir, 'plinth.db'));
  database.pragma('synchronous = off');
  database.pragma('cache_size = -200000');
  const startMs = performance.now();
  const nowMs = Date.now();
  const stepMs = (29 * 86_400_000) / Math.max(1, recordCount);
  const records =
    database.prepare(`insert into webhooks_deliveries (id, app_id, guid, delivered_ms, redelivery, duration_ms,
      status, status_code, event, action, installation_id, repository_id, attempt_no)
    with recursive rows (n) as (select ? union all select n + 1 from rows where n < ?)
    select (cast(? + n * ? as integer) - ${EPOCH_MS}) * 4096 + n % 4096, ?,
      printf('%08x-0000-7000-8000-%012x', n, n), cast(? + n * ? as integer), n % 100 = 0, 21.5,
      case n % 50 when 7 then 'Invalid HTTP Response: 500' else 'OK' end, case n % 50 when 7 then 500 else 200 end,
      'push', case n % 3 when 0 then 'opened' end, 1 + n % 1000, 1 + n % 5000, 1 from rows`);
  const oldestMs = nowMs - 29 * 86_400_000;
  for (let n = 0; n < recordCount; n += STEP) {
    const last = Math.min(recordCount, n + STEP) - 1;
    records.run(n, last, oldestMs, stepMs, pastId, oldestMs, stepMs);
  }
  const events = database.prepare(`insert into webhooks_events
    with recursive rows (n) as (select ? union all select n + 1 from rows where n < ?)
    select printf('%08x-1111-7000-8000-%012x', n, n), 'queued', null, null, null, 'plain',
      cast('{"n":' || n || ',"filler":"${'x'.repeat(200)}"}' as blob), ?, ? from rows`);
  const items = database.prepare(`insert into webhooks_queue
    with recursive rows (n) as (select ? union all select n + 1 from rows where n < ?)
    select (? - ${EPOCH_MS}) * 4096 + n, ?, printf('%08x-1111-7000-8000-%012x', n, n), 'first', 1,
      case when n < 256 then 'leased' else 'pending' end, ? + n / 100,
      case when n < 256 then 'a stopped node' end, null, null from rows`);
  for (let n = 0; n < queuedCount; n += STEP) {
    const last = Math.min(queuedCount, n + STEP) - 1;
    events.run(n, last, nowMs - 60_000, nowMs - 60_000);
    items.run(n, last, nowMs - 60_000, waitingId, nowMs - 60_000);
  }
  database.pragma('wal_checkpoint(truncate)');
  database.close();
  const megabytes = fs.statSync(path.join(dataDir, 'plinth.db')).size / 1e6;
  printRow(
    `${recordCount} records and ${queuedCount} queued items, ${megabytes.toFixed(0)} MB, inserted in`,
    `${((performance.now() - startMs) / 1000).toFixed(0)} s`,
  );
}

async function measureQueue(app) {
  const startMs = performance.now();
  server = await startServerProcess({ dataDir, flags: FLAGS });
  const healthMs = performance.now() - startMs;
  await until(() => receiver.count > 0);
  const firstMs = performance.now() - startMs;
  let peakMib = 0;
  const endMs = performance.now() + Number(values.seconds) * 1000;
  const before = receiver.count;
  const cpuBefore = cpuSeconds(server.pid);
  while (performance.now() < endMs) {
    peakMib = Math.max(peakMib, residentMib(server.pid));
    await sleep(100);
  }
  const delivered = receiver.count - before;
  printRow('start with the queue: first response', `${healthMs.toFixed(0)} ms`);
  printRow('start with the queue: first delivery', `${firstMs.toFixed(0)} ms`);
  printRow('peak memory during delivery', `${peakMib.toFixed(0)} MiB`);
  printRow(
    'deliveries meanwhile',
    `${Math.round(delivered / values.seconds)}/s, ${(((cpuSeconds(server.pid) - cpuBefore) * 1000) / delivered).toFixed(2)} ms of CPU time each`,
  );
  await server.kill();
  const killedMs = performance.now();
  const countAtKill = receiver.count;
  server = await startServerProcess({ dataDir, flags: FLAGS });
  printRow('after kill -9: first response', `${(performance.now() - killedMs).toFixed(0)} ms`);
  await until(() => receiver.count > countAtKill);
  printRow('after kill -9: first delivery', `${(performance.now() - killedMs).toFixed(0)} ms`);
  // Stops deliveries, so that they do not affect the list figures.
  await call('PATCH', `/ops/v1/apps/${app.id}`, { webhook: { active: false } });
}

async function measureLists(app) {
  const path = '/api/v3/app/hook/deliveries?per_page=100';
  const someId = () => {
    const ageMs = Math.random() * 29 * 86_400_000;
    return Math.floor(Date.now() - ageMs - EPOCH_MS) * 4096;
  };
  const lists = [
    ['list: newest page', () => path, 200],
    ['list: page at a random position', () => `${path}&cursor=v1_${someId()}`, 200],
    ['list: failures', () => `${path}&status=failure&cursor=v1_${someId()}`, 200],
    ['list: redeliveries', () => `${path}&redelivery=true&cursor=v1_${someId()}`, 200],
    ['list: one event by GUID', () => `${path}&guid=${guidOf(Math.random())}`, 200],
    ['list: one day three weeks ago', () => `${path}&since=${dayAgo(20)}&until=${dayAgo(19)}`, 50],
    ['list: an unknown event type', () => `${path}&event=nothing`, 3],
  ];
  for (const [name, url, count] of lists) {
    const times = [];
    let slowestMs = 0;
    for (let index = 0; index < count; index++) {
      const [neighbourMs, listMs] = await Promise.all([
        timed(() => call('GET', '/ops/v1/apps?per_page=1')),
        timed(() => call('GET', url(), undefined, bearer(app))),
      ]);
      times.push(listMs);
      slowestMs = Math.max(slowestMs, neighbourMs);
    }
    times.sort((a, b) => a - b);
    const at = (share) => times[Math.floor(times.length * share)].toFixed(1);
    printRow(
      name,
      `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms; slowest neighbour ${slowestMs.toFixed(1)} ms`,
    );
  }
  const redriveMs = await timed(() =>
    call('POST', `/ops/v1/apps/${app.id}/redrive`, { status: 'failure', dry_run: true }),
  );
  printRow('redrive of all failures, dry run', `${redriveMs.toFixed(0)} ms`);
}

function dayAgo(days) {
  return new Date(Date.now() - days * 86_400_000).toISOString();
}

function guidOf(chance) {
  const hex = Math.floor(chance * recordCount).toString(16);
  return `${hex.padStart(8, '0')}-0000-7000-8000-${hex.padStart(12, '0')}`;
}

function bearer(app) {
  const encode = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const now = Math.floor(Date.now() / 1000);
  app.jwt ??= (() => {
    const text = `${encode({ alg: 'RS256' })}.${encode({ iss: app.id, iat: now - 9, exp: now + 500 })}`;
    return `${text}.${createSign('RSA-SHA256').update(text).sign(app.pem, 'base64url')}`;
  })();
  return { authorization: `Bearer ${app.jwt}` };
}

async function makeApp(name) {
  const webhook = { url: receiver.url, events: ['*'], secret: 'secret' };
  return JSON.parse(await call('POST', '/ops/v1/apps', { name, webhook }));
}

async function timed(work) {
  const startMs = performance.now();
  await work();
  return performance.now() - startMs;
}

async function until(isDone) {
  const endMs = Date.now() + 120_000;
  while (!isDone()) {
    if (Date.now() > endMs) throw new Error('timed out waiting for the server');
    await sleep(2);
  }
}

function call(method, url, body, headers = {}) {
  return new Promise((resolve, reject) => {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const length = text === undefined ? {} : { 'content-length': Buffer.byteLength(text) };
    const type = { 'content-type': 'application/json' };
    const request = http.request(
      `${server.url}${url}`,
      { method, agent, headers: { ...type, ...length, ...headers } },
      (response) => {
        let answer = '';
        response.on('data', (chunk) => {
          answer += chunk;
        });
        response.on('end', () =>
          response.statusCode < 300
            ? resolve(answer)
            : reject(new Error(`${url} ${response.statusCode}: ${answer}`)),
        );
      },
    );
    request.on('error', (error) =>
      reject(new Error(`${url}: ${error.message}\n${server.log.slice(-3).join('\n')}`)),
    );
    request.end(text);
  });
}

async function startReceiver() {
  const listener = http.createServer((request, response) => {
    request.resume();
    request.on('end', () => {
      if (request.headers['x-vendor-event'] !== 'ping') listener.count += 1;
      response.end('ok');
    });
  });
  listener.count = 0;
  await new Promise((resolve) => listener.listen(0, '127.0.0.1', resolve));
  listener.url = `http://127.0.0.1:${listener.address().port}/`;
  return listener;
}

function printRow(name, text) {
  process.stdout.write(`${name}: ${text}\n`);
}
