#!/usr/bin/env node
// node bench/webhooks.mjs [seconds]
// Measures the webhook service with payloads of 2 KiB and a receiver on the same machine. Prints one line per figure.
import { createSign } from 'node:crypto';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { ensureBuiltOrExit } from '../scripts/ensure-built.mjs';
import { startServerProcess } from '../scripts/lib/server-process.mjs';
import { cpuSeconds, residentMib } from './process-figures.mjs';

const seconds = Number(process.argv[2] ?? 5);
const PAYLOAD = { filler: 'x'.repeat(2000), number: 1 };
const agent = new http.Agent({ keepAlive: true, maxSockets: 64 });

await ensureBuiltOrExit();
const dataDir = fs.mkdtempSync(path.join(os.tmpdir(), 'plinth-bench-webhooks-'));
const receiver = await startReceiver();
const server = await startServerProcess({
  dataDir,
  flags: ['--without-auth', '--services=webhooks', '--webhooks-allow-private-targets=127.0.0.0/8'],
});
try {
  const app = await send('POST', '/ops/v1/apps', {
    name: 'bench',
    webhook: { url: receiver.url, events: ['*'], secret: 'secret' },
  });
  const off = await send('POST', '/ops/v1/apps', {
    name: 'off',
    webhook: { url: 'http://127.0.0.1:9/', events: [], active: true },
  });
  await ingestSingle(off.id);
  await ingestBatch('no subscriber', { event: 'unwanted', app_id: off.id });
  await ingestSubscribed();
  await latency(app.id);
  await sustained(app.id);
  await listPages(app);
  process.stdout.write(`memory of the server: ${residentMib(server.pid).toFixed(0)} MiB\n`);
} finally {
  await server.kill();
  receiver.server.close();
  receiver.server.closeAllConnections();
  agent.destroy();
  fs.rmSync(dataDir, { recursive: true, force: true });
}

/** Events without a subscriber pass the complete ingest path, but cause no delivery. */
async function ingestSingle(appId) {
  const body = JSON.stringify({
    event: 'unwanted',
    payload: PAYLOAD,
    id: undefined,
    app_id: appId,
  });
  await loop(64, 1000, () => raw('POST', '/ops/v1/events', body));
  const times = await loop(64, seconds * 1000, () => raw('POST', '/ops/v1/events', body));
  report('single events, 64 connections, no subscriber', times, seconds);
}

async function ingestBatch(name, fields) {
  const lines = Array.from({ length: 500 }, () =>
    JSON.stringify({ ...fields, payload: PAYLOAD }),
  ).join('\n');
  const startMs = performance.now();
  const times = await loop(4, seconds * 1000, () => raw('POST', '/ops/v1/events/batch', lines));
  const rate = (times.length * 500) / ((performance.now() - startMs) / 1000);
  times.sort((a, b) => a - b);
  process.stdout.write(
    `batches of 500, ${name}: ${Math.round(rate)} events/s, ${((times.cpuMs / times.length / 500) * 1000).toFixed(0)} us of CPU each, p99 of a batch ${times[Math.floor(times.length * 0.99)].toFixed(0)} ms\n`,
  );
}

/**
 * Measures only ingest: each event is queued for receivers that accept connections and never respond. Then measures the same with a
 * receiver that responds.
 */
async function ingestSubscribed() {
  const silent = http.createServer(() => {});
  await new Promise((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${silent.address().port}/`;
  for (const count of [1, 3, 10]) {
    const apps = [];
    for (let index = 0; index < count; index++) {
      const webhook = { url, events: [`for${count}`], secret: 'secret' };
      apps.push(
        await send('POST', '/ops/v1/apps', { name: `unresponsive ${count} ${index}`, webhook }),
      );
    }
    // Lists the apps explicitly. Otherwise the app that subscribes to all events would also receive them.
    const app_ids = apps.map(({ id }) => id);
    await ingestBatch(`${count} subscribed`, { event: `for${count}`, app_ids });
    for (const { id } of apps) await raw('DELETE', `/ops/v1/apps/${id}`);
  }
  silent.close();
  silent.closeAllConnections();
  const webhook = { url: receiver.url, events: ['answered'], secret: 'secret' };
  const app = await send('POST', '/ops/v1/apps', { name: 'answering', webhook });
  await ingestBatch('1 subscribed, delivered meanwhile', { event: 'answered', app_id: app.id });
  await raw('DELETE', `/ops/v1/apps/${app.id}`);
}

async function latency(appId) {
  const sentMs = new Map();
  const delaysMs = [];
  receiver.onDelivery = (_, body) => {
    const { n } = JSON.parse(body);
    if (sentMs.has(n)) delaysMs.push(performance.now() - sentMs.get(n));
  };
  for (let n = 0; n < 200 * seconds; n++) {
    const dueMs = performance.now() + 5;
    sentMs.set(n, performance.now());
    void raw(
      'POST',
      '/ops/v1/events',
      JSON.stringify({ event: 'e', payload: { n }, app_id: appId }),
    );
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, dueMs - performance.now())));
  }
  await until(() => delaysMs.length >= 190 * seconds);
  receiver.onDelivery = () => {};
  delaysMs.sort((a, b) => a - b);
  const at = (share) => delaysMs[Math.floor(delaysMs.length * share)]?.toFixed(1);
  process.stdout.write(
    `publish call to request received, 200/s: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms\n`,
  );
}

async function sustained(appId) {
  const before = receiver.count;
  const body = JSON.stringify({ event: 'wanted', payload: PAYLOAD, app_id: appId });
  const startMs = performance.now();
  const times = await loop(64, seconds * 1000, () => raw('POST', '/ops/v1/events', body));
  report('single events, 64 connections, delivered meanwhile', times, seconds);
  await until(() => receiver.count - before >= times.length);
  const tookSec = (performance.now() - startMs) / 1000;
  process.stdout.write(
    `published and delivered: ${Math.round(times.length / tookSec)} events/s end to end\n`,
  );
  const lines = Array.from({ length: 1000 }, () => body).join('\n');
  for (let count = 0; count < 10; count++) await raw('POST', '/ops/v1/events/batch', lines);
  const drainMs = performance.now();
  const drainCpu = cpuSeconds(server.pid);
  const base = receiver.count;
  await until(() => receiver.count - before >= times.length + 10_000);
  const drained = before + times.length + 10_000 - base;
  process.stdout.write(
    `delivering from the queue: ${Math.round(drained / ((performance.now() - drainMs) / 1000))} deliveries/s, ${(((cpuSeconds(server.pid) - drainCpu) * 1000) / drained).toFixed(2)} ms of CPU each\n`,
  );
}

async function listPages(app) {
  await new Promise((resolve) => setTimeout(resolve, 1000));
  const encode = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const now = Math.floor(Date.now() / 1000);
  const text = `${encode({ alg: 'RS256' })}.${encode({ iss: app.id, iat: now - 9, exp: now + 500 })}`;
  const jwt = `${text}.${createSign('RSA-SHA256').update(text).sign(app.pem, 'base64url')}`;
  const headers = { authorization: `Bearer ${jwt}` };
  const times = await loop(1, 2000, () =>
    raw('GET', '/api/v3/app/hook/deliveries?per_page=100', undefined, headers),
  );
  report('list pages of 100, sequential', times, 2);
}

async function loop(width, forMs, work) {
  const times = [];
  const cpuBefore = cpuSeconds(server.pid);
  const endMs = performance.now() + forMs;
  await Promise.all(
    Array.from({ length: width }, async () => {
      while (performance.now() < endMs) {
        const startMs = performance.now();
        await work();
        times.push(performance.now() - startMs);
      }
    }),
  );
  times.cpuMs = (cpuSeconds(server.pid) - cpuBefore) * 1000;
  return times;
}

function report(name, times, sec) {
  times.sort((a, b) => a - b);
  const at = (share) => times[Math.floor(times.length * share)]?.toFixed(1);
  process.stdout.write(
    `${name}: ${Math.round(times.length / sec)}/s, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, ${(times.cpuMs / times.length).toFixed(2)} ms of CPU each\n`,
  );
}

async function until(isDone) {
  const endMs = Date.now() + 120_000;
  while (!isDone()) {
    if (Date.now() > endMs) throw new Error('timed out waiting for deliveries');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

async function send(method, url, body) {
  return JSON.parse(await raw(method, url, JSON.stringify(body)));
}

function raw(method, url, body, headers = {}) {
  return new Promise((resolve, reject) => {
    const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
    const request = http.request(
      `${server.url}${url}`,
      { method, agent, headers: { ...length, ...headers } },
      (response) => {
        let text = '';
        response.on('data', (chunk) => {
          text += chunk;
        });
        response.on('end', () =>
          response.statusCode < 300
            ? resolve(text)
            : reject(new Error(`${response.statusCode}: ${text}`)),
        );
      },
    );
    request.on('error', reject);
    request.end(body);
  });
}

async function startReceiver() {
  const state = { count: 0, onDelivery: () => {} };
  const listener = http.createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => {
      if (request.headers['x-vendor-event'] !== 'ping') {
        state.count += 1;
        state.onDelivery(request.headers, body);
      }
      response.end('ok');
    });
  });
  await new Promise((resolve) => listener.listen(0, '127.0.0.1', resolve));
  return Object.assign(state, {
    server: listener,
    url: `http://127.0.0.1:${listener.address().port}/`,
  });
}
