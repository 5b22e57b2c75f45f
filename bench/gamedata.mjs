#!/usr/bin/env node
// node bench/gamedata.mjs: compares game data with a raw Node HTTP server that sends the same bytes. Needs `wrk`.
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { ensureBuiltOrExit } from '../scripts/ensure-built.mjs';
import { cli } from '../scripts/lib/root.mjs';
import { startServerProcess } from '../scripts/lib/server-process.mjs';
import { cpuSeconds, residentMib } from './process-figures.mjs';

const run = promisify(execFile);
const SECONDS = 4;
const ROUNDS = 3;
const SCALE = 238;

if (isMainThread) await main();
else serveRaw(workerData);

/** The minimal work of a Node server: sends prepared headers and bytes. */
function serveRaw({ body, etag }) {
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    'content-length': body.length,
    etag,
  };
  const server = createServer((request, response) => {
    if (request.headers['if-none-match'] === etag) {
      response.writeHead(304, { etag });
      response.end();
    } else {
      response.writeHead(200, headers);
      response.end(body);
    }
  });
  server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
}

async function main() {
  await ensureBuiltOrExit();
  const dataDir = fs.mkdtempSync(path.join(tmpdir(), 'plinth-bench-'));
  const token = 'token-of-the-benchmark';
  process.env.PLINTH_GAMEDATA_ADMIN_TOKEN = token;
  const flags = ['--services', 'gamedata', '--gamedata-max-import-bytes', '300mb'];
  const server = await startServerProcess({ dataDir, flags });
  try {
    await benchBothStarts(server.url);
    await benchImport(server, token, path.join(dataDir, 'world.json'));
    await benchSearch(server.url);
    console.log(`memory                  ${residentMib(server.pid).toFixed(0)} MiB`);
  } finally {
    await server.kill();
    fs.rmSync(dataDir, { recursive: true, force: true });
  }
}

/** Measures game data in a server with only this service, and with all services including the rate limiter. */
async function benchBothStarts(aloneUrl) {
  const dataDir = fs.mkdtempSync(path.join(tmpdir(), 'plinth-bench-'));
  const all = await startServerProcess({ dataDir, flags: [] });
  try {
    await benchReplies({ 'game data only': aloneUrl, 'all services': all.url });
  } finally {
    await all.kill();
    fs.rmSync(dataDir, { recursive: true, force: true });
  }
}

async function benchReplies(urls) {
  const [first] = Object.values(urls);
  const response = await fetch(`${first}/api/items`);
  const body = new Uint8Array(await response.arrayBuffer());
  const etag = response.headers.get('etag');
  const worker = new Worker(fileURLToPath(import.meta.url), { workerData: { body, etag } });
  const port = await new Promise((resolve) => worker.once('message', resolve));
  const raw = `http://127.0.0.1:${port}`;
  for (const [name, headers] of [
    ['cached list', []],
    ['304', ['-H', `If-None-Match: ${etag}`]],
  ]) {
    const rates = { raw: [], ...Object.fromEntries(Object.keys(urls).map((start) => [start, []])) };
    // The servers alternate, so that other load on the machine affects all of them.
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const [start, url] of Object.entries({ raw, ...urls })) {
        rates[start].push(await rate(`${url}/api/items`, headers));
      }
    }
    const rawRate = Math.max(...rates.raw);
    for (const start of Object.keys(urls)) {
      const own = Math.max(...rates[start]);
      const label = `${name}, ${start}`.padEnd(29);
      const share = (own / rawRate).toFixed(2);
      console.log(`${label} ${Math.round(own)}/s, raw ${Math.round(rawRate)}/s: ${share}x`);
    }
  }
  await worker.terminate();
}

async function rate(url, headers) {
  const { stdout } = await run('wrk', ['-t1', '-c64', `-d${SECONDS}`, ...headers, url]);
  return Number(/Requests\/sec:\s+([\d.]+)/.exec(stdout)?.[1]);
}

async function benchImport({ url, pid }, token, file) {
  await run(process.execPath, [
    cli,
    'gamedata',
    'generate',
    '--scale',
    String(SCALE),
    '--out',
    file,
  ]);
  const cpuBefore = cpuSeconds(pid);
  const startMs = performance.now();
  const response = await fetch(`${url}/api/editor/import?mode=replace&publish=true`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: fs.readFileSync(file),
  });
  const { counts } = await response.json();
  const records = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const seconds = (performance.now() - startMs) / 1000;
  const cpu = cpuSeconds(pid) - cpuBefore;
  console.log(
    `import and publish      ${records} records in ${seconds.toFixed(1)} s, ${cpu.toFixed(1)} s of CPU`,
  );
}

async function benchSearch(url) {
  const words = [
    'glass',
    'salt',
    'quay',
    'carbine',
    'lantern',
    'mire',
    'clock',
    'varnish',
    'kelp',
    'bell',
  ];
  const paths = {
    'search, 100,000 items': (index) => `/api/items?search=${words[index % 10]}&offset=${index}`,
    'q, 100,000 items': (index) => `/api/items?q=${words[index % 10]}&offset=${index}`,
    'q, mistyped': (index) => `/api/items?q=${words[index % 10]}x~&offset=${index}`,
    'filter and sort': (index) => `/api/items?rarity=rare&sort=-price&offset=${index}`,
  };
  for (const [name, make] of Object.entries(paths)) {
    const times = [];
    for (let index = 0; index < 120; index += 1) {
      const startMs = performance.now();
      await (await fetch(url + make(index))).arrayBuffer();
      // The first requests build the index.
      if (index >= 20) times.push(performance.now() - startMs);
    }
    times.sort((a, b) => a - b);
    console.log(
      `${name.padEnd(23)} p50 ${times[50].toFixed(1)} ms, p99 ${times[98].toFixed(1)} ms`,
    );
  }
}
