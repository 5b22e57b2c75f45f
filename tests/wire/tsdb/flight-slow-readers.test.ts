// Source: tsdb-http, "Arrow Flight / Flight SQL": streams have back-pressure and do not delay other requests.
// Own process: its memory is measured.
import assert from 'node:assert/strict';
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from 'node:http2';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { assertEmpty, rows, ServerProcess } from '../../harness/index.js';
import { askFlight, residentMb } from '../../harness/slow-readers.js';

const STREAM_COUNT = 200;
const ROW_COUNT = 40_000;
const SIP_MS = 100;
const MAX_IDLE_MS = 30_000;
const SESSION_COUNT = 4;
/** Far less than all responses together. */
const MAX_GROWTH_MB = 3000;

interface Reader {
  readonly stream: ClientHttp2Stream;
  sizeBytes: number;
  status: string | undefined;
}

it('F-01 200 slow readers at a time hold up neither each other nor anybody else', {
  skip: process.platform === 'linux' ? false : 'memory is read from /proc',
  timeout: 300_000,
}, async () => {
  await using server = await ServerProcess.start();
  const body = Array.from(
    { length: ROW_COUNT },
    (_, i) => `cpu,host=host_${i % 100} usage=${i / 8},load=${i * 0.37} ${i}`,
  ).join('\n');
  assertEmpty(await server.http.send('/api/v3/write_lp?db=slow&precision=ns', { body }));
  const beforeMb = residentMb(server.pid);
  const sessions = Array.from({ length: SESSION_COUNT }, () => connect(server.url));
  const sql_query = 'SELECT *, usage + load AS s FROM cpu';
  const begin = (session: ClientHttp2Session | undefined): Reader => {
    assert.ok(session);
    const stream = askFlight(session, { database: 'slow', sql_query });
    const reader: Reader = { stream, sizeBytes: 0, status: undefined };
    stream.on('trailers', (trailers) => {
      reader.status = String(trailers['grpc-status']);
    });
    return reader;
  };
  const readToEnd = async (reader: Reader) => {
    for await (const piece of reader.stream) reader.sizeBytes += (piece as Buffer).length;
  };
  const readers = Array.from({ length: STREAM_COUNT }, (_, index) => {
    const reader = begin(sessions[index % SESSION_COUNT]);
    // Reads nothing automatically.
    reader.stream.on('readable', () => {});
    return reader;
  });
  const sip = (of: readonly Reader[]) => {
    for (const reader of of)
      reader.sizeBytes += (reader.stream.read() as Buffer | null)?.length ?? 0;
  };
  const waiting = () => readers.filter(({ sizeBytes }) => sizeBytes < 1000);
  // Every reader receives its first rows although the other streams do not end, and then stops reading. On a busy
  // machine that takes long, but there is steady progress.
  for (let left = waiting().length, idleMs = 0; left > 0; idleMs += SIP_MS) {
    assert.ok(idleMs < MAX_IDLE_MS, `${left} streams starve`);
    await sleep(SIP_MS);
    sip(waiting());
    if (waiting().length < left) idleMs = 0;
    left = waiting().length;
  }
  assert.ok(readers.every(({ status }) => status === undefined));
  for (let count = 0; count < 5; count++) {
    assert.deepEqual(await rows(server, 'slow', 'SELECT count(*) AS n FROM cpu'), [
      { n: ROW_COUNT },
    ]);
    assertEmpty(await server.http.send('/api/v3/write_lp?db=slow', { body: 'other v=1' }));
    sip(readers);
  }
  // A late, fast reader receives all rows, even over a connection shared with slow readers.
  // Its own connection is opened here, because the server closes a connection that is idle for long.
  sessions.push(connect(server.url));
  const quick = [begin(sessions[0]), begin(sessions.at(-1))];
  await Promise.all(quick.map(readToEnd));
  assert.deepEqual(
    quick.map(({ status }) => status),
    ['0', '0'],
  );
  assert.equal((await server.http.send('/health')).status, 200);
  assert.ok(
    readers.every(({ status }) => status === undefined),
    'a slow reader has ended',
  );
  const growthMb = residentMb(server.pid) - beforeMb;
  assert.ok(growthMb < MAX_GROWTH_MB, `grew by ${Math.round(growthMb)} MB`);
  await Promise.all(
    readers.map(async (reader) => {
      reader.stream.removeAllListeners('readable');
      await readToEnd(reader);
    }),
  );
  assert.deepEqual(new Set(readers.map(({ status }) => status)), new Set(['0']));
  // All results have the same rows; the batch boundaries and the keep-alive messages of a busy DuckDB differ.
  const wholeBytes = readers[0]?.sizeBytes ?? 0;
  for (const { sizeBytes } of [...quick, ...readers])
    assert.ok(Math.abs(sizeBytes - wholeBytes) < wholeBytes / 100, `${sizeBytes} of ${wholeBytes}`);
  for (const session of sessions) session.close();
});
