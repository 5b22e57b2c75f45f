import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { SqlBench } from '../testing/sql-bench.js';

const MINUTE = 60_000_000_000n;

describe('gap filling', () => {
  let bench: SqlBench;
  before(async () => {
    bench = await SqlBench.open({
      m: {
        columns: { time: 'time', host: 'tag', x: 'float64', n: 'int64' },
        rows: [
          [`${MINUTE}`, "'a'", '10', '10'],
          [`${3n * MINUTE}`, "'a'", 'NULL', '0'],
          [`${4n * MINUTE}`, "'a'", '40', '3'],
          [`${6n * MINUTE}`, "'a'", '20', '0'],
          [`${2n * MINUTE}`, "'b'", '1', '1'],
        ],
      },
      // 2020-03-28T12:00:00Z
      z: { columns: { time: 'time', x: 'float64' }, rows: [['1585396800000000000', '1']] },
    });
  });
  after(() => bench.close());

  const BOUNDS = `time >= 0 AND time < ${7n * MINUTE}`;
  /** Selects from one series with a row per minute from 0 to 6. */
  const ofA = (list: string) =>
    `SELECT ${list} FROM (SELECT date_bin_gapfill(INTERVAL '1 minute', time) AS t, avg(x) AS avg, ` +
    `locf(avg(x)) AS kept, interpolate(avg(x)) AS line, count(*) AS count, interpolate(max(n)) AS whole ` +
    `FROM m WHERE host = 'a' AND ${BOUNDS} GROUP BY t) ORDER BY t`;

  it('creates a row for every bin between the bounds, with count 0 for empty bins', async () => {
    assert.deepEqual(await bench.rows(ofA('avg, count')), [
      '|0',
      '10|1',
      '|0',
      '|1',
      '40|1',
      '|0',
      '20|1',
    ]);
  });

  it('carries the last value forward, also across NULL values', async () => {
    assert.deepEqual(await bench.rows(ofA('kept')), ['', '10', '10', '10', '40', '40', '20']);
  });

  it('interpolates between values, also in a bin with NULL', async () => {
    assert.deepEqual(await bench.rows(ofA('line')), ['', '10', '20', '30', '40', '30', '20']);
  });

  it('truncates interpolated integers', async () => {
    // 10 at 1 min, 0 at 3, 3 at 4, 0 at 6: the midpoints are 5 and 1.5.
    assert.deepEqual(await bench.rows(ofA('whole')), ['', '10', '5', '0', '3', '1', '0']);
  });

  it('fills each series, ordered by series and then by time', async () => {
    const text =
      `SELECT date_bin_gapfill(INTERVAL '3 minutes', time) AS t, host, locf(last_value(n ORDER BY time)) AS n ` +
      `FROM m WHERE ${BOUNDS} GROUP BY t, host`;
    assert.deepEqual(await bench.rows(text), [
      '1970-01-01 00:00:00|a|10',
      '1970-01-01 00:03:00|a|3',
      '1970-01-01 00:06:00|a|0',
      '1970-01-01 00:00:00|b|1',
      '1970-01-01 00:03:00|b|1',
      '1970-01-01 00:06:00|b|1',
    ]);
  });

  it('starts with the bin that contains the lower bound', async () => {
    const text =
      "SELECT date_bin_gapfill(INTERVAL '5 minutes', time, TIMESTAMP '1970-01-01T00:00:07Z') AS t " +
      `FROM m WHERE time >= ${MINUTE} AND time < ${4n * MINUTE} GROUP BY t`;
    assert.deepEqual(await bench.rows(text), ['1970-01-01 00:00:07']);
  });

  it('fills all fields of a selector together', async () => {
    const text =
      "SELECT interpolate(selector_last(x, time))['value'] AS v FROM m " +
      `WHERE host = 'a' AND time >= ${4n * MINUTE} AND time <= ${6n * MINUTE} ` +
      "GROUP BY date_bin_gapfill(INTERVAL '1 minute', time)";
    assert.deepEqual(await bench.rows(text), ['40', '30', '20']);
  });

  it('creates no rows without any data', async () => {
    const text = `SELECT date_bin_gapfill(INTERVAL '1 minute', time) AS t FROM m WHERE time > ${9n * MINUTE} AND time < ${20n * MINUTE} GROUP BY t`;
    assert.deepEqual(await bench.rows(text), []);
  });

  it('bins the wall clock of a zone, also on a day of 23 hours', async () => {
    const text =
      "SELECT date_bin_wallclock_gapfill(INTERVAL '1 day', tz(time, 'Europe/Berlin')) AS t, count(*) FROM z " +
      "WHERE time >= '2020-03-28' AND time < '2020-03-31' GROUP BY t";
    // Daylight saving time began on 2020-03-29, so midnight is 23:00 UTC before and 22:00 UTC
    // after.
    assert.deepEqual(await bench.rows(text), [
      '2020-03-27 23:00:00|1',
      '2020-03-28 23:00:00|0',
      '2020-03-29 22:00:00|0',
      '2020-03-30 22:00:00|0',
    ]);
  });

  it('takes the bounds from a common table and from conditions on it', async () => {
    const fill = (from: string, where = '') =>
      `SELECT date_bin_gapfill(INTERVAL '1 minute', time) AS t, count(*) AS n FROM ${from} ${where} GROUP BY t ORDER BY t`;
    const five = [1, 2, 3, 4, 5].map((minute) => `1970-01-01 00:0${minute}:00`);
    const both = `time >= ${MINUTE} AND time < ${6n * MINUTE}`;
    const counts = ['1', '0', '1', '1', '0'];
    const expected = five.map((t, index) => `${t}|${counts[index]}`);
    const check = async (text: string) => assert.deepEqual(await bench.rows(text), expected, text);
    const ofA = "host = 'a'";
    await check(`WITH w AS (SELECT time FROM m WHERE ${ofA} AND ${both}) ${fill('w')}`);
    await check(`WITH w AS (SELECT * FROM m WHERE ${ofA}) ${fill('w', `WHERE ${both}`)}`);
    await check(
      `WITH w AS (SELECT * FROM m WHERE ${ofA} AND time >= ${MINUTE}), v AS (SELECT * FROM w) ` +
        fill('v AS z', `WHERE z.time < ${6n * MINUTE}`),
    );
    await check(
      `WITH w(time, h) AS (SELECT time, host FROM m) ${fill(`(SELECT * FROM w WHERE ${both})`, "WHERE h = 'a'")}`,
    );
    // The bounds of one reader do not narrow the scan for another.
    const twice =
      `WITH w AS (SELECT * FROM m WHERE ${ofA}), few AS (${fill('w', `WHERE ${both}`)}) ` +
      'SELECT (SELECT count(*) FROM w) AS all_rows, (SELECT count(*) FROM few) AS bins';
    assert.deepEqual(await bench.rows(twice), ['4|5']);
    assert.throws(() => bench.plan(`WITH w AS (SELECT * FROM m) ${fill('w', 'WHERE time > 0')}`), {
      message: 'Error during planning: gap-filling query is missing upper time bound',
    });
  });

  it('reads rows before the lower bound only for locf with a look-back', () => {
    const minTimeOf = (hint: string, list: string) =>
      bench.plan(
        `SELECT ${hint} date_bin_gapfill(INTERVAL '1 minute', time) AS t, ${list} FROM m ` +
          `WHERE time >= ${5n * MINUTE} AND time < ${7n * MINUTE} GROUP BY t`,
      ).scans[0]?.minTimeNs;
    assert.equal(minTimeOf('', 'locf(avg(x))'), 5n * MINUTE);
    assert.equal(minTimeOf('/*+ lookback(3m) */', 'locf(avg(x))'), 2n * MINUTE);
    assert.equal(minTimeOf('/*+ lookback(3m) */', 'interpolate(avg(x))'), 5n * MINUTE);
    assert.equal(minTimeOf('/*+ lookback(0s) */', 'locf(avg(x))'), 5n * MINUTE);
  });

  it('continues the last value before the lower bound in each series that has one', async () => {
    const text = (hint: string) =>
      `SELECT ${hint} date_bin_gapfill(INTERVAL '1 minute', time) AS t, host, locf(max(n)) AS n FROM m ` +
      `WHERE time >= ${5n * MINUTE} AND time < ${7n * MINUTE} GROUP BY t, host`;
    const at = (minute: number) => `1970-01-01 00:0${minute}:00`;
    assert.deepEqual(await bench.rows(text('')), [`${at(5)}|a|`, `${at(6)}|a|0`]);
    assert.deepEqual(await bench.rows(text('/*+ lookback(2m) */')), [
      `${at(5)}|a|3`,
      `${at(6)}|a|0`,
    ]);
    assert.deepEqual(await bench.rows(text('/*+ lookback(3m) */')), [
      ...[`${at(5)}|a|3`, `${at(6)}|a|0`],
      ...[`${at(5)}|b|1`, `${at(6)}|b|1`],
    ]);
  });

  it('rejects invalid gap filling with the messages of the specification', () => {
    const refuse = (text: string, message: string) =>
      assert.throws(() => bench.plan(text), {
        kind: 'plan_error',
        message: `Error during planning: ${message}`,
      });
    const select = (list: string, where: string, key: string) =>
      `SELECT ${list} FROM m ${where} GROUP BY ${key}`;
    const bin = "date_bin_gapfill(INTERVAL '1 minute', time)";
    const bounded = `WHERE ${BOUNDS}`;
    refuse(select(bin, '', '1'), 'gap-filling query is missing both upper and lower time bounds');
    refuse(select(bin, 'WHERE time > 0', '1'), 'gap-filling query is missing upper time bound');
    refuse(select(bin, 'WHERE time < 9', '1'), 'gap-filling query is missing lower time bound');
    refuse(
      select(`${bin}::DATE`, bounded, '1'),
      'DATE_BIN_GAPFILL must be a top-level expression in the GROUP BY clause when gap filling. ' +
        'It cannot be part of another expression or cast',
    );
    refuse(`SELECT ${bin} FROM m`, 'date_bin_gapfill may only be used as a GROUP BY expression');
    refuse(
      'SELECT locf(avg(x)) FROM m',
      'locf may only be used in the SELECT list of a gap-filling query',
    );
    refuse(
      select(`${bin}, locf(host)`, bounded, '1, host'),
      'locf must be called on an aggregate column in a gap-filling query',
    );
  });
});
