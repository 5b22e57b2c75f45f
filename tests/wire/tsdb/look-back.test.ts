// Source: query-languages, "Look-back" and "SQL gap filling".
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { assertEmpty, type OwnServer, rows, ServerInProcess, write } from '../../harness/index.js';

const LINES = ['door,id=a open=1i 20', 'door,id=a open=0i 95', 'door,id=b open=1i 12'].join('\n');
const RANGE = 'time >= 60s AND time < 120s';
const STATE = `last(open) FROM door WHERE ${RANGE} GROUP BY time(30s), id fill(previous)`;

interface Series {
  readonly tags: Readonly<Record<string, string>>;
  readonly values: readonly (readonly unknown[])[];
}

async function influxql(server: OwnServer, text: string): Promise<Record<string, unknown>> {
  const path = `/query?db=home&epoch=s&q=${encodeURIComponent(text)}`;
  const { status, text: body } = await server.http.send(path);
  assert.equal(status, 200, body);
  const { results } = JSON.parse(body) as {
    results: readonly { readonly error?: string; readonly series?: readonly Series[] }[];
  };
  const [result] = results;
  if (result?.error !== undefined) return { error: result.error };
  return Object.fromEntries(
    (result?.series ?? []).map(({ tags, values }) => [tags['id'] ?? '', values]),
  );
}

const sql = (server: OwnServer, hint: string) =>
  rows(
    server,
    'home',
    `SELECT ${hint} date_bin_gapfill(INTERVAL '30 seconds', time) AS t, id, locf(max(open)) AS open FROM door ` +
      "WHERE time >= '1970-01-01T00:01:00Z' AND time < '1970-01-01T00:02:00Z' GROUP BY t, id",
  );

const [T60, T90] = ['1970-01-01T00:01:00', '1970-01-01T00:01:30'];
const FILLED_SQL = [
  { t: T60, id: 'a', open: 1 },
  { t: T90, id: 'a', open: 0 },
  { t: T60, id: 'b', open: 1 },
  { t: T90, id: 'b', open: 1 },
];
const FILLED = {
  a: [
    [60, 1],
    [90, 0],
  ],
  b: [
    [60, 1],
    [90, 1],
  ],
};
const UNFILLED = {
  a: [
    [60, null],
    [90, 0],
  ],
};

describe('the hint lookback', () => {
  let server: ServerInProcess;
  before(async () => {
    server = await ServerInProcess.start();
    assertEmpty(await write(server, { db: 'home', parameters: 'precision=second' }, LINES));
  });
  after(() => server.close());

  it('continues the state before the time range in InfluxQL', async () => {
    assert.deepEqual(await influxql(server, `SELECT ${STATE}`), UNFILLED);
    assert.deepEqual(await influxql(server, `SELECT /*+ lookback(1m) */ ${STATE}`), FILLED);
    assert.deepEqual(await influxql(server, `SELECT /*+ lookback(10s) */ ${STATE}`), UNFILLED);
  });

  it('uses the last value before the time range in difference()', async () => {
    const difference = `difference(open) FROM door WHERE ${RANGE} GROUP BY id`;
    assert.deepEqual(await influxql(server, `SELECT ${difference}`), {});
    // A repeated statement has a stored plan.
    for (const seconds of [60, 60, 90]) {
      const text = `SELECT /*+ lookback(1m) */ ${difference.replace('60s', `${seconds}s`)}`;
      const expected = seconds === 60 ? { a: [[95, -1]] } : {};
      assert.deepEqual(await influxql(server, text), expected, text);
    }
  });

  it('continues the value before the time range in locf()', async () => {
    assert.deepEqual(await sql(server, ''), [
      { t: T60, id: 'a' },
      { t: T90, id: 'a', open: 0 },
    ]);
    assert.deepEqual(await sql(server, '/*+ lookback(1m) */'), FILLED_SQL);
  });

  it('is kept in continuous queries', async () => {
    const query =
      `SELECT /*+ lookback(1h) */ last(open) AS open INTO home.autogen.states FROM home.autogen.door ` +
      'GROUP BY time(1h), id fill(previous)';
    const create = `CREATE CONTINUOUS QUERY states ON home BEGIN ${query} END`;
    const form = (text: string) =>
      server.http.send('/query?db=home', {
        body: new URLSearchParams({ q: text }).toString(),
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      });
    assert.equal((await form(create)).text, '{"results":[{"statement_id":0}]}\n');
    const { text } = await form('SHOW CONTINUOUS QUERIES');
    assert.ok(text.includes(JSON.stringify(create)), text);
  });

  it('reports the accepted values', async () => {
    const problem =
      'invalid hint /*+ lookback(1 month 1y) */; use /*+ lookback(1h) */ with a duration of at most 366d, or lookback(0s) for no look-back';
    assert.deepEqual(await influxql(server, `SELECT /*+ lookback(1 month 1y) */ ${STATE}`), {
      error: `error in InfluxQL statement: parsing error: ${problem} at pos 7`,
    });
    const { status, text } = await server.http.send(
      `/api/v3/query_sql?db=home&format=json&q=${encodeURIComponent('SELECT /*+ lookback(1 month 1y) */ 1')}`,
    );
    assert.deepEqual([status, text.includes(problem)], [400, true], text);
  });
});

it('looks back without a hint if the setting says so', async () => {
  const flags = ['--without-auth', '--query-lookback', '1m'];
  await using server = await ServerInProcess.start({ flags });
  assertEmpty(await write(server, { db: 'home', parameters: 'precision=second' }, LINES));
  assert.deepEqual(await influxql(server, `SELECT ${STATE}`), FILLED);
  assert.deepEqual(await influxql(server, `SELECT /*+ lookback(0s) */ ${STATE}`), UNFILLED);
  assert.deepEqual(await sql(server, ''), FILLED_SQL);
});
