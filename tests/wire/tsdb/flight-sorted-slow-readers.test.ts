// Source: tsdb-http, "Arrow Flight / Flight SQL": streams have back-pressure and bounded memory, and no stream starves.
// Own process: its memory is measured.
import assert from 'node:assert/strict';
import { type ClientHttp2Session, connect } from 'node:http2';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { assertEmpty, rows, ServerProcess } from '../../harness/index.js';
import {
  askFlight,
  MemoryPeak,
  readToEnd,
  residentMb,
  SlowReader,
} from '../../harness/slow-readers.js';

const READER_COUNT = 40;
const ROW_COUNT = 120_000;
const LIMIT = 12_000;
const BODY_ROWS = 20_000;
const PLAIN_READER_COUNT = 150;
/** More than the first time slice of 8192 rows. */
const MANY_ROWS_BYTES = 600_000;
const MAX_PLAIN_GROWTH_MB = 450;
/** More than the schema. */
const SOME_ROWS_BYTES = 20_000;
/** The sorted rows of all readers together would take a third more. */
const MAX_GROWTH_MB = 550;

/** Each reads this many bytes, so that its stream has started, and then stops reading. */
async function readSlowly(
  sessions: readonly ClientHttp2Session[],
  sql_query: string,
  enoughBytes: number,
): Promise<readonly SlowReader[]> {
  const readers = sessions.map(
    (session) => new SlowReader(askFlight(session, { database: 'slow', sql_query })),
  );
  for (const reader of readers) reader.readTo(enoughBytes);
  for (let count = 0; count < 600 && !readers.every(({ isThere }) => isThere); count++) {
    await sleep(50);
  }
  assert.ok(
    readers.every(({ isThere }) => isThere),
    'a stream starves',
  );
  return readers;
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
  // One connection for each reader, as Flight clients use it: a full connection blocks the streams that share it.
  const sessions = Array.from({ length: READER_COUNT }, () => connect(server.url));
  const [first] = sessions as [ClientHttp2Session];
  const whole = await readToEnd(askFlight(first, { database: 'slow', sql_query: sql }));
  const beforeMb = residentMb(server.pid);
  const peak = new MemoryPeak(server.pid);
  const readers = await readSlowly(sessions, sql, SOME_ROWS_BYTES);
  assert.deepEqual(await rows(server, 'slow', 'SELECT count(*) AS n FROM cpu'), [{ n: ROW_COUNT }]);
  const growthMb = peak.end() - beforeMb;
  assert.ok(growthMb < MAX_GROWTH_MB, `grew by ${Math.round(growthMb)} MB`);
  // Some readers disconnect; the others receive every row.
  const [leaving, staying] = [readers.slice(0, 20), readers.slice(20)];
  for (const { stream } of leaving) stream.destroy();
  const responses = await Promise.all(staying.map((reader) => reader.readToEnd()));
  // All results have the same rows; the keep-alive messages of a busy DuckDB differ.
  for (const sizeBytes of responses)
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
  const whole = await readToEnd(askFlight(first, { database: 'slow', sql_query: sql }));
  const beforeMb = residentMb(server.pid);
  const readers = await readSlowly(sessions, sql, MANY_ROWS_BYTES);
  const growthMb = residentMb(server.pid) - beforeMb;
  assert.ok(growthMb < MAX_PLAIN_GROWTH_MB, `grew by ${Math.round(growthMb)} MB`);
  const responses = await Promise.all(readers.slice(-10).map((reader) => reader.readToEnd()));
  for (const sizeBytes of responses)
    assert.ok(Math.abs(sizeBytes - whole.length) < whole.length / 100, `${sizeBytes}`);
  for (const session of sessions) session.destroy();
});
