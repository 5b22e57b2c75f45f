// Source: tsdb-http, "Arrow Flight / Flight SQL": streams have back-pressure and bounded memory, and no stream starves.
// Own process: its memory is measured.
import assert from 'node:assert/strict';
import { connect } from 'node:http2';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { assertEmpty, rows, ServerProcess } from '../../harness/index.js';
import { askFlight, MemoryPeak, residentMb, SlowReader } from '../../harness/slow-readers.js';

const READER_COUNT = 200;
const ROW_COUNT = 400_000;
const BODY_ROWS = 20_000;
const SERIES_COUNT = 50;
const SMALLER_ROW_COUNT = 180_000;
/** Each series has one row per millisecond. */
const SMALLER_END = new Date(SMALLER_ROW_COUNT / SERIES_COUNT).toISOString();
/** More than the schema. */
const SOME_ROWS_BYTES = 20_000;
/** Bytes to read from a response of 43 or 19 MB: more than its first time slices. */
const MANY_ROWS_BYTES = 4_000_000;
/** Memory limit while the clients continue to read; their responses have 43 MB each. */
const MAX_MB_PER_READER = 7.5;
const MAX_STALLED_MB_PER_READER = 6;

it('F-01 200 slow readers at a time of long texts share a bounded memory, and all of them get on', {
  skip: process.platform === 'linux' ? false : 'memory is read from /proc',
  timeout: 300_000,
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
  // Smaller responses take at most as much memory as large ones.
  const readers = sessions.map((session, index) => {
    const where = index % 2 === 0 ? '' : `WHERE time <= '${SMALLER_END}'`;
    const sql_query = `SELECT v, s, f, t, time FROM w ${where} ORDER BY time`;
    return new SlowReader(askFlight(session, { database: 'slow', sql_query }));
  });
  for (const enoughBytes of [SOME_ROWS_BYTES, MANY_ROWS_BYTES]) {
    const peak = new MemoryPeak(server.pid);
    for (const reader of readers) reader.readTo(enoughBytes);
    const isDone = () => readers.every(({ isThere }) => isThere);
    for (let count = 0; count < 3600 && !isDone(); count++) await sleep(50);
    assert.ok(isDone(), 'a stream starves');
    const count = await rows(server, 'slow', "SELECT count(*) AS n FROM w WHERE s = 's7'");
    assert.deepEqual(count, [{ n: ROW_COUNT / SERIES_COUNT }]);
    const growth = (peak.end() - beforeMb) / READER_COUNT;
    assert.ok(growth < MAX_MB_PER_READER, `grew by ${growth} MB for each reader`);
    const stalled = (residentMb(server.pid) - beforeMb) / READER_COUNT;
    assert.ok(stalled < MAX_STALLED_MB_PER_READER, `${stalled} MB stay with each reader`);
  }
  for (const session of sessions.slice(3)) session.destroy();
  const sizes = await Promise.all(readers.slice(0, 3).map((reader) => reader.readToEnd()));
  // Only strings, and no row twice; the batches depend on the slices.
  sizes.forEach((sizeBytes, index) => {
    const share = index % 2 === 0 ? 1 : SMALLER_ROW_COUNT / ROW_COUNT;
    assert.ok(sizeBytes > 40e6 * share && sizeBytes < 46e6 * share, `${sizeBytes}`);
  });
  for (const session of sessions) session.destroy();
});

const VERY_LONG = { readerCount: 30, rowCount: 2000, textBytes: 20_000, bodyRows: 200 };
/** Their responses take 40 MB each. */
const MAX_VERY_LONG_MB_PER_READER = 20;

it('F-01 slow readers of few rows with very long texts share a bounded memory', {
  skip: process.platform === 'linux' ? false : 'memory is read from /proc',
}, async () => {
  await using server = await ServerProcess.start();
  const { readerCount, rowCount, textBytes, bodyRows } = VERY_LONG;
  for (let from = 0; from < rowCount; from += bodyRows) {
    const lines = Array.from({ length: bodyRows }, (_, k) => {
      const text = String.fromCharCode(97 + ((from + k) % 26)).repeat(textBytes);
      return `w v=${from + k}i,t="${text}" ${(from + k + 1) * 1_000_000}`;
    });
    const options = { body: lines.join('\n') };
    assertEmpty(await server.http.send('/api/v3/write_lp?db=slow&precision=ns', options));
  }
  const beforeMb = residentMb(server.pid);
  const peak = new MemoryPeak(server.pid);
  const sessions = Array.from({ length: readerCount }, () => connect(server.url));
  const readers = sessions.map((session) => {
    const sql_query = 'SELECT time, v, t FROM w ORDER BY time';
    return new SlowReader(askFlight(session, { database: 'slow', sql_query }));
  });
  for (const reader of readers) reader.readTo(SOME_ROWS_BYTES);
  const isDone = () => readers.every(({ isThere }) => isThere);
  for (let count = 0; count < 1200 && !isDone(); count++) await sleep(50);
  assert.ok(isDone(), 'a stream starves');
  const found = await rows(server, 'slow', 'SELECT v FROM w WHERE v = 5');
  assert.deepEqual(found, [{ v: 5 }]);
  await sleep(500); // Time for the rows computed in advance.
  const growth = (peak.end() - beforeMb) / readerCount;
  assert.ok(growth < MAX_VERY_LONG_MB_PER_READER, `grew by ${growth} MB for each reader`);
  for (const session of sessions.slice(1)) session.destroy();
  const sizeBytes = (await readers[0]?.readToEnd()) ?? 0;
  const responseBytes = rowCount * textBytes;
  assert.ok(sizeBytes > responseBytes && sizeBytes < responseBytes * 1.05, `${sizeBytes}`);
  sessions[0]?.destroy();
});
