#!/usr/bin/env node
// node bench/write-floor.mjs [seconds] [connections]
// Measures an upper bound for any single-threaded Node server on this machine that syncs before it responds. A bare socket accepts
// requests of one line, combines pending ones into one synced write over zeros (as the log does) and responds. wrk sends the requests over
// four connections. A Node server with the same guarantee and a separate writer thread cannot exceed this rate.
import { spawn, spawnSync } from 'node:child_process';
import { constants, mkdtempSync, openSync, rmSync, writeFileSync, writev } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const SECONDS = Number(process.argv[2] ?? 5);
const CONNECTIONS = Number(process.argv[3] ?? 4);
const FILE_BYTES = 64 * 1024 * 1024;
const END_OF_HEADERS = '\r\n\r\n';
const ANSWER = Buffer.from('HTTP/1.1 204 No Content\r\n\r\n');
const LINE =
  'cpu,hostname=host_1,region=eu-west-1,os=Ubuntu16.10 usage_user=58i,usage_system=2i,usage_idle=24i,usage_nice=61i 1451606400000000000';

if (spawnSync('wrk', ['-v']).error !== undefined) {
  console.error('write-floor: wrk is not installed (Debian package wrk)');
  process.exit(1);
}

const folder = mkdtempSync(join(tmpdir(), 'plinth-floor-'));
const path = join(folder, 'log');
writeFileSync(path, Buffer.alloc(FILE_BYTES), { flush: true });

/** Measures one server. `writeAll(parts, done)` makes the requests durable. */
function serve(writeAll) {
  const figures = { requests: 0, writes: 0 };
  let waiting = [];
  let isWriting = false;
  const writeNext = () => {
    if (isWriting || waiting.length === 0) return;
    const batch = waiting;
    waiting = [];
    isWriting = true;
    figures.writes++;
    figures.requests += batch.length;
    writeAll(
      batch.map((one) => one.body),
      (error) => {
        if (error) throw error;
        for (const { socket } of batch) socket.write(ANSWER);
        const goOn = () => {
          isWriting = false;
          writeNext();
        };
        // Like the log, combines all requests of one poll phase with the pending ones.
        if (waiting.length === 0) goOn();
        else setImmediate(() => setImmediate(goOn));
      },
    );
  };
  const server = createServer({ noDelay: true }, (socket) => {
    socket.on('error', () => socket.destroy());
    // wrk sends each request in one piece and waits for the response, so each chunk is one request.
    socket.on('data', (bytes) => {
      waiting.push({ socket, body: bytes.subarray(bytes.indexOf(END_OF_HEADERS) + 4) });
      if (waiting.length === 1 && !isWriting) setImmediate(writeNext);
    });
  });
  return { server, figures };
}

async function measure(name, writeAll) {
  const { server, figures } = serve(writeAll);
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
  const script = join(folder, 'line.lua');
  writeFileSync(script, `wrk.method = "POST"\nwrk.body = "${LINE}"\n`);
  const cpuBefore = process.cpuUsage();
  const url = `http://127.0.0.1:${server.address().port}/write`;
  const args = ['-t1', `-c${CONNECTIONS}`, `-d${SECONDS}s`, '-s', script, url];
  const wrk = spawn('wrk', args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  wrk.stdout.on('data', (piece) => {
    text += piece;
  });
  await new Promise((ended) => wrk.once('close', ended));
  const cpu = process.cpuUsage(cpuBefore);
  server.close();
  const rate = /Requests\/sec:\s*([\d.]+)/.exec(text)?.[1];
  const each = (cpu.user + cpu.system) / figures.requests;
  const perWrite = figures.requests / figures.writes;
  console.log(
    `${name}: ${rate} requests/s, ${perWrite.toFixed(2)} a write, ${each.toFixed(0)} us CPU each`,
  );
}

let offset = 0;
const place = (parts) => {
  const size = parts.reduce((sum, part) => sum + part.byteLength, 0);
  if (offset + size > FILE_BYTES) offset = 0;
  offset += size;
  return offset - size;
};

try {
  const synced = openSync(path, constants.O_RDWR | constants.O_DSYNC);
  await measure('one synced write at a time', (parts, done) =>
    writev(synced, parts, place(parts), done),
  );
  await measure('no disk at all', (_parts, done) => setImmediate(done));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
