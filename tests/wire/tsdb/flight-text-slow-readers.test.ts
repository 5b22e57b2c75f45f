// Source: tsdb-http, "Arrow Flight / Flight SQL"; row F-01: streams with back-pressure hold a bounded memory, and nothing starves.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { type ClientHttp2Stream, connect } from 'node:http2';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { assertEmpty, encode, jsonTicket, ServerProcess } from '../../harness/index.js';

const READER_COUNT = 60;
const ROW_COUNT = 400_000;
const BODY_ROWS = 20_000;
const SERIES_COUNT = 50;
/** Of the 43 MB of an answer: beyond its first slice of time. */
const MANY_ROWS_BYTES = 9_000_000;
/** Slices cut without regard to memory take twice as much. */
const MAX_GROWTH_MB = 2000;

const residentMb = (pid: number) => {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
};

it('F-01 many slow readers at a time of long texts share the memory of their slices', {
  skip: process.platform === 'linux' ? false : 'memory is read from /proc',
}, async () => {
  await using server = await ServerProcess.start();
  for (let from = 0; from < ROW_COUNT; from += BODY_ROWS) {
    const lines = Array.from({ length: BODY_ROWS }, (_, k) => {
      const i = from + k;
      const text = `row ${i} some text that is a good deal longer than twelve bytes ${i}`;
      const time = (Math.floor(i / SERIES_COUNT) + 1) * 1_000_000;
      return `w,s=s${i % SERIES_COUNT} v=${i}i,f=${i / 2},t="${text}" ${time}`;
    });
    const options = { body: lines.join('\n') };
    assertEmpty(await server.http.send('/api/v3/write_lp?db=slow&precision=ns', options));
  }
  const beforeMb = residentMb(server.pid);
  const sessions = Array.from({ length: READER_COUNT }, () => connect(server.url));
  const begun = new Set<ClientHttp2Stream>();
  const readers = sessions.map((session) => {
    const sql_query = 'SELECT v, s, f, t, time FROM w ORDER BY time';
    const message = encode('Ticket', { ticket: jsonTicket({ database: 'slow', sql_query }) });
    const prefix = Buffer.alloc(5);
    prefix.writeUInt32BE(message.length, 1);
    const stream = session.request({
      ':method': 'POST',
      ':path': '/arrow.flight.protocol.FlightService/DoGet',
      'content-type': 'application/grpc',
      te: 'trailers',
    });
    stream.end(Buffer.concat([prefix, message]));
    let sizeBytes = 0;
    stream.on('readable', () => {
      if (sizeBytes < MANY_ROWS_BYTES) sizeBytes += (stream.read() as Buffer | null)?.length ?? 0;
      if (sizeBytes >= MANY_ROWS_BYTES) begun.add(stream);
    });
    return { stream, read: () => sizeBytes };
  });
  for (let count = 0; count < 1200 && begun.size < READER_COUNT; count++) await sleep(50);
  assert.equal(begun.size, READER_COUNT, 'a stream starves');
  const growthMb = residentMb(server.pid) - beforeMb;
  assert.ok(growthMb < MAX_GROWTH_MB, `grew by ${Math.round(growthMb)} MB`);
  for (const session of sessions.slice(3)) session.destroy();
  const sizes = await Promise.all(
    readers.slice(0, 3).map(async ({ stream, read }) => {
      let status: unknown;
      stream.on('trailers', (trailers) => {
        status = trailers['grpc-status'];
      });
      stream.removeAllListeners('readable');
      let rest = 0;
      for await (const piece of stream) rest += (piece as Buffer).length;
      assert.equal(status, '0');
      return read() + rest;
    }),
  );
  // Texts alone, and no row twice; batches differ with the slices.
  for (const sizeBytes of sizes) assert.ok(sizeBytes > 40e6 && sizeBytes < 46e6, `${sizeBytes}`);
  for (const session of sessions) session.destroy();
});
