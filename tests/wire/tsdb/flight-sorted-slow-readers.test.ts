// Source: tsdb-http, "Arrow Flight / Flight SQL"; row F-01: streams with back-pressure hold a bounded memory, and nothing starves.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from 'node:http2';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { assertEmpty, encode, jsonTicket, rows, ServerProcess } from '../../harness/index.js';

const READER_COUNT = 40;
const ROW_COUNT = 120_000;
const LIMIT = 12_000;
const BODY_ROWS = 20_000;
const PLAIN_READER_COUNT = 150;
/** Beyond the first slice of time, of 8192 rows. */
const MANY_ROWS_BYTES = 600_000;
const MAX_PLAIN_GROWTH_MB = 450;
/** Beyond the schema. */
const SOME_ROWS_BYTES = 20_000;
/** The sorted rows of all readers together take a third more. */
const MAX_GROWTH_MB = 550;

const residentMb = (pid: number) => {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
};

/** Asks and reads nothing by itself. */
function ask(session: ClientHttp2Session, sql_query: string): ClientHttp2Stream {
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
  return stream;
}

/** Each reads so many bytes, which makes it one that has begun, and then nothing. */
function readSlowly(sessions: readonly ClientHttp2Session[], sql: string, enoughBytes: number) {
  const begun = new Set<ClientHttp2Stream>();
  const readers = sessions.map((session) => {
    const stream = ask(session, sql);
    let sizeBytes = 0;
    stream.on('readable', () => {
      if (sizeBytes < enoughBytes) sizeBytes += (stream.read() as Buffer | null)?.length ?? 0;
      if (sizeBytes >= enoughBytes) begun.add(stream);
    });
    return { stream, read: () => sizeBytes };
  });
  return { readers, begun };
}

async function readToEnd(stream: ClientHttp2Stream): Promise<Buffer> {
  let status: unknown;
  stream.on('trailers', (trailers) => {
    status = trailers['grpc-status'];
  });
  const pieces: Buffer[] = [];
  for await (const piece of stream) pieces.push(piece as Buffer);
  assert.equal(status, '0');
  return Buffer.concat(pieces);
}

it('F-01 slow readers of sorted answers do not keep the sorted rows in memory', {
  skip: process.platform === 'linux' ? false : 'memory is read from /proc',
}, async () => {
  await using server = await ServerProcess.start();
  for (let from = 0; from < ROW_COUNT; from += BODY_ROWS) {
    const lines = Array.from({ length: BODY_ROWS }, (_, k) => {
      const i = from + k;
      const fields = Array.from(
        { length: 9 },
        (_f, place) => `f${place}=${(i * 37) % (1009 + place)}`,
      );
      return `cpu,host=host_${i % 100} n=${i}i,${fields.join(',')} ${i + 1}`;
    });
    const options = { body: lines.join('\n') };
    assertEmpty(await server.http.send('/api/v3/write_lp?db=slow&precision=ns', options));
  }
  const sql = `SELECT * FROM cpu ORDER BY f0, n LIMIT ${LIMIT}`;
  // One connection for each, as clients of Flight have it: a full one holds up the streams that share it.
  const sessions = Array.from({ length: READER_COUNT }, () => connect(server.url));
  const [first] = sessions as [ClientHttp2Session];
  const whole = await readToEnd(ask(first, sql));
  const beforeMb = residentMb(server.pid);
  const { readers, begun } = readSlowly(sessions, sql, SOME_ROWS_BYTES);
  let peakMb = 0;
  for (let count = 0; count < 600 && begun.size < READER_COUNT; count++) {
    await sleep(50);
    peakMb = Math.max(peakMb, residentMb(server.pid));
  }
  assert.equal(begun.size, READER_COUNT, 'a stream starves');
  assert.deepEqual(await rows(server, 'slow', 'SELECT count(*) AS n FROM cpu'), [{ n: ROW_COUNT }]);
  const growthMb = Math.max(peakMb, residentMb(server.pid)) - beforeMb;
  assert.ok(growthMb < MAX_GROWTH_MB, `grew by ${Math.round(growthMb)} MB`);
  // Some go without a word; the others get every row.
  const [leaving, staying] = [readers.slice(0, 20), readers.slice(20)];
  for (const { stream } of leaving) stream.destroy();
  const answers = await Promise.all(
    staying.map(async ({ stream, read }) => {
      stream.removeAllListeners('readable');
      return read() + (await readToEnd(stream)).length;
    }),
  );
  // The same rows; whether a busy engine's silence is filled is not.
  for (const sizeBytes of answers)
    assert.ok(Math.abs(sizeBytes - whole.length) < whole.length / 100, `${sizeBytes}`);
  for (const session of sessions) session.close();
});

it('F-01 many slow readers at a time of plain rows get all of them, each out of less memory', {
  skip: process.platform === 'linux' ? false : 'memory is read from /proc',
}, async () => {
  await using server = await ServerProcess.start();
  for (let from = 0; from < ROW_COUNT; from += BODY_ROWS) {
    const lines = Array.from({ length: BODY_ROWS }, (_, k) => {
      const i = from + k;
      return `cpu,host=host_${i % 100} u=${(i * 37) % 1009},s=${i / 8},n=${i}i ${i + 1}`;
    });
    const options = { body: lines.join('\n') };
    assertEmpty(await server.http.send('/api/v3/write_lp?db=slow&precision=ns', options));
  }
  const sql = 'SELECT * FROM cpu';
  const sessions = Array.from({ length: PLAIN_READER_COUNT }, () => connect(server.url));
  const [first] = sessions as [ClientHttp2Session];
  const whole = await readToEnd(ask(first, sql));
  const beforeMb = residentMb(server.pid);
  const { readers, begun } = readSlowly(sessions, sql, MANY_ROWS_BYTES);
  for (let count = 0; count < 600 && begun.size < PLAIN_READER_COUNT; count++) await sleep(50);
  assert.equal(begun.size, PLAIN_READER_COUNT, 'a stream starves');
  const growthMb = residentMb(server.pid) - beforeMb;
  assert.ok(growthMb < MAX_PLAIN_GROWTH_MB, `grew by ${Math.round(growthMb)} MB`);
  const answers = await Promise.all(
    readers.slice(-10).map(async ({ stream, read }) => {
      stream.removeAllListeners('readable');
      return read() + (await readToEnd(stream)).length;
    }),
  );
  for (const sizeBytes of answers)
    assert.ok(Math.abs(sizeBytes - whole.length) < whole.length / 100, `${sizeBytes}`);
  for (const session of sessions) session.destroy();
});
