// Queries of few series that are not in memory read only their row groups, without DuckDB.
import assert from 'node:assert/strict';
import { it, type TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { CallFaults, ManualClock, temporaryFolder } from '@plinth/kernel/testing';
import { flushEngine } from '#src/testing/flush-node.js';
import { openTestNode } from '#src/testing/open-test-node.js';
import { query, queryInfluxql, writeLines } from '#src/testing/write-and-query.js';

const START_S = 1_700_000_000;
const HOST_COUNT = 300;
const STEP_COUNT = 150;

interface Row {
  readonly host: number;
  readonly step: number;
  readonly i: number | undefined;
  readonly f: number;
  readonly big: bigint;
}

const rowAt = (host: number, step: number): Row => ({
  host,
  step,
  i: (host + step) % 5 === 0 ? undefined : ((host * 31 + step * 7) % 200) - 100,
  f: (host * step) / 4,
  big: 2n ** 62n + BigInt(host * STEP_COUNT + step),
});

const lineOf = ({ host, step, i, f, big }: Row): string => {
  const number = i === undefined ? '' : `,i=${i}i`;
  return `m,host=h${host},zone=z${host % 3} f=${f},big=${big}u,b=${step % 2 === 0}${number} ${START_S + step * 10}000000000`;
};

const floatText = (value: number): string =>
  Number.isInteger(value) ? value.toFixed(1) : String(value);

/** A node with all rows in segments of several row groups; by default, no column fits in its memory. */
async function openFlushed(context: TestContext, cacheBytes = 1) {
  const dataDir = await temporaryFolder();
  const start = async () => {
    const faults = new CallFaults();
    const flags = { 'tsdb-column-cache-bytes': String(cacheBytes) };
    return {
      faults,
      node: await openTestNode(dataDir, { faults, flags, clock: new ManualClock() }),
    };
  };
  let { node, faults } = await start();
  context.after(() => node.close());
  const hosts = Array.from({ length: HOST_COUNT }, (_, host) => host);
  const rows = hosts.flatMap((host) =>
    Array.from({ length: STEP_COUNT }, (_, step) => rowAt(host, step)),
  );
  for (let at = 0; at < rows.length; at += 15_000)
    await writeLines(node, rows.slice(at, at + 15_000).map(lineOf));
  await flushEngine(node.engine);
  await node.close();
  ({ node, faults } = await start());
  // DuckDB reads the series at the start.
  await query(node, "SELECT i FROM m WHERE host = 'h0' LIMIT 1");
  const duckDbCalls = (): number => faults.counts.get('duckdb.query') ?? 0;
  return { node, faults, rows, duckDbCalls };
}

it('reads only the row groups that contain the series', async (context) => {
  const { node, rows, duckDbCalls } = await openFlushed(context);
  const before = duckDbCalls();
  for (const host of [0, 17, 150, HOST_COUNT - 1]) {
    const own = rows.filter((row) => row.host === host && row.step >= 20 && row.step < 80);
    const whole = own.flatMap(({ i }) => i ?? []);
    const where = `WHERE host = 'h${host}' AND time >= '${new Date((START_S + 200) * 1000).toISOString()}' AND time < '${new Date((START_S + 800) * 1000).toISOString()}'`;
    assert.deepEqual(
      await query(
        node,
        `SELECT max(i) AS i, min(i) AS l, count(i) AS n, sum(f) AS f, count(*) AS c FROM m ${where}`,
      ),
      [
        'i | l | n | f | c',
        [
          ...[Math.max(...whole), Math.min(...whole), whole.length],
          ...[floatText(own.reduce((sum, { f }) => sum + f, 0)), own.length],
        ].join(' | '),
      ],
    );
    const found = await query(node, `SELECT time, i, f FROM m ${where} ORDER BY time LIMIT 7`);
    assert.deepEqual(
      found.slice(1).map((line) => line.split(' | ').slice(1)),
      own.slice(0, 7).map(({ i, f }) => [i === undefined ? 'NULL' : String(i), floatText(f)]),
    );
    const { results } = JSON.parse(
      await queryInfluxql(node, `SELECT count(f), max(f) FROM m ${where}`),
    );
    assert.deepEqual(results[0].series[0].values[0].slice(1), [
      own.length,
      Math.max(...own.map(({ f }) => f)),
    ]);
  }
  const several = ['h3', 'h120', 'h121', 'h299', 'nobody'].map((host) => `'${host}'`).join(', ');
  const counted = await query(
    node,
    `SELECT host, count(*) AS n FROM m WHERE host IN (${several}) GROUP BY host ORDER BY host`,
  );
  assert.deepEqual(counted, [
    'host | n',
    ...['h120', 'h121', 'h299', 'h3'].map((host) => `${host} | ${STEP_COUNT}`),
  ]);
  assert.equal(duckDbCalls(), before, 'DuckDB was not used');
});

it('leaves inexact values, many series and unreadable files to DuckDB', async (context) => {
  const { node, faults, duckDbCalls } = await openFlushed(context);
  const queryDuckDb = async (text: string, expected: readonly string[]): Promise<void> => {
    const before = duckDbCalls();
    assert.deepEqual(await query(node, text), expected);
    assert.ok(duckDbCalls() > before, text);
  };
  await queryDuckDb("SELECT max(big) AS big FROM m WHERE host = 'h7'", [
    'big',
    String(2n ** 62n + BigInt(7 * STEP_COUNT + STEP_COUNT - 1)),
  ]);
  await queryDuckDb('SELECT count(f) AS n FROM m', ['n', String(HOST_COUNT * STEP_COUNT)]);
  faults.fail({ kind: 'object.get', count: Number.POSITIVE_INFINITY });
  await queryDuckDb("SELECT count(b) AS n FROM m WHERE host = 'h9'", ['n', String(STEP_COUNT)]);
});

it('loads the columns of a segment after reading dozens of its series', async (context) => {
  const { node, duckDbCalls } = await openFlushed(context, 2 ** 26);
  const countOf = (host: number): Promise<readonly string[]> =>
    query(node, `SELECT count(f) AS n FROM m WHERE host = 'h${host}'`);
  const before = duckDbCalls();
  for (let host = 1; host <= 64; host++) assert.deepEqual(await countOf(host), ['n', '150']);
  assert.equal(duckDbCalls(), before, 'DuckDB was not used');
  assert.deepEqual(await countOf(65), ['n', '150']);
  while (duckDbCalls() === before) await setImmediate();
});
