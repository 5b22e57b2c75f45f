// Source: query-languages, "Data model seen by both languages", "Time functions" and "Aggregates".
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { SqlBench } from '../testing/sql-bench.js';

const FIRST_NS = '-9223372036854775806';
const LAST_NS = '9223372036854775806';

describe('time functions', () => {
  let bench: SqlBench;
  before(async () => {
    const times = [FIRST_NS, '-86400000000001', '-86400000000000', '-1', '0', LAST_NS];
    const rows = times.map((time, index) => [time, `${index}`]);
    bench = await SqlBench.open({ t: { columns: { time: 'time', n: 'int64' }, rows } });
  });
  after(() => bench.close());

  const each = async (expression: string, expected: readonly string[]) =>
    assert.deepEqual(
      await bench.rows(`SELECT ${expression} AS x FROM t ORDER BY n`),
      expected,
      expression,
    );

  it('return the day of a timestamp, also before 1970', async () => {
    const days = ['1677-09-21', '1969-12-30', '1969-12-31', '1969-12-31', '1970-01-01'];
    await each('CAST(CAST(time AS DATE) AS STRING)', [...days, '2262-04-11']);
    await each('CAST(CAST(CAST(time AS TIMESTAMPTZ) AS DATE) AS STRING)', [...days, '2262-04-11']);
    await each('CAST(to_date(time) AS STRING)', [...days, '2262-04-11']);
  });

  it('return calendar parts at both ends of 64 bits', async () => {
    await each("date_part('year', time)", ['1677', '1969', '1969', '1969', '1970', '2262']);
    await each('extract(day FROM time)', ['21', '30', '31', '31', '1', '11']);
    await each("date_part('dow', time)", ['2', '2', '3', '3', '4', '5']);
  });

  it('format timestamps at both ends of 64 bits', async () => {
    await each('CAST(time AS STRING)', [
      '1677-09-21T00:12:43.145224194',
      '1969-12-30T23:59:59.999999999',
      '1969-12-31T00:00:00',
      '1969-12-31T23:59:59.999999999',
      '1970-01-01T00:00:00',
      '2262-04-11T23:47:16.854775806',
    ]);
  });

  it('return bins, the first of which starts at the earliest timestamp', async () => {
    const first = '1677-09-21T00:12:43.145224194';
    const ofDays = ['1969-12-30', '1969-12-31', '1969-12-31', '1970-01-01'];
    const days = [first, ...ofDays.map((day) => `${day}T00:00:00`), '2262-04-11T00:00:00'];
    await each("CAST(date_bin(INTERVAL '1 day', time) AS STRING)", days);
    await each("CAST(date_trunc('day', time) AS STRING)", days);
    await each("CAST(date_trunc('second', time) AS STRING)", [
      first,
      '1969-12-30T23:59:59',
      '1969-12-31T00:00:00',
      '1969-12-31T23:59:59',
      '1970-01-01T00:00:00',
      '2262-04-11T23:47:16',
    ]);
    const years = ['1969', '1969', '1969', '1970', '2262'].map((year) => `${year}-01-01T00:00:00`);
    await each("CAST(date_trunc('year', time) AS STRING)", [first, ...years]);
    await each("CAST(date_bin(INTERVAL '12 months', time) AS STRING)", [first, ...years]);
    await each(
      `CAST(date_trunc('week', TIMESTAMP '${first}') AS STRING)`,
      days.map(() => first),
    );
    await each(
      "date_bin(INTERVAL '1 day', CAST(NULL AS TIMESTAMP))",
      days.map(() => ''),
    );
    await each(
      "date_bin(INTERVAL '1 month', CAST(NULL AS TIMESTAMP))",
      days.map(() => ''),
    );
  });

  it('return wall-clock bins of zones whose local time exceeds 64 bits', async () => {
    // Wall-clock times ten minutes before the earliest timestamp and nine hours after the latest.
    const ends = async (zone: string, unit: string) =>
      await bench.rows(
        `SELECT CAST(date_trunc('${unit}', tz(time, '${zone}')) AS BIGINT) FROM t WHERE n IN (0, 5) ORDER BY n`,
      );
    const hour = 3_600_000_000_000n;
    const latestHour = (BigInt(LAST_NS) / hour) * hour;
    assert.deepEqual(await ends('-05:00', 'hour'), [FIRST_NS, `${latestHour}`]);
    assert.deepEqual(await ends('+09:00', 'hour'), [FIRST_NS, `${latestHour}`]);
    assert.deepEqual(await ends('Asia/Tokyo', 'hour'), [FIRST_NS, `${latestHour}`]);
    // Midnight in Tokyo is 15:00 UTC.
    const day = 24n * hour;
    assert.deepEqual(await ends('Asia/Tokyo', 'day'), [
      FIRST_NS,
      `${(BigInt(LAST_NS) / day) * day + 15n * hour}`,
    ]);
    const bins = await bench.rows(
      "SELECT CAST(date_bin_wallclock(INTERVAL '1 hour', tz(time, 'Asia/Tokyo')) AS BIGINT) FROM t WHERE n IN (0, 5) ORDER BY n",
    );
    assert.deepEqual(bins, [FIRST_NS, `${latestHour}`]);
  });

  it('return the wall clock of a zone from the earliest timestamp', async () => {
    const minutes = await bench.rows(
      "SELECT date_part('minute', tz(time, 'Asia/Kolkata')) FROM t WHERE n < 5 ORDER BY n",
    );
    // Local mean time, 5:53:28 ahead of UTC, applied until 1854.
    assert.deepEqual(minutes, ['6', '29', '30', '29', '30']);
  });
});

describe('approx_distinct', () => {
  it('is off by a few percent at most', async () => {
    const rows = Array.from({ length: 1000 }, (_, index) => [`${index}`, `'host-${index % 250}'`]);
    const columns = { time: 'time', host: 'tag' } as const;
    const bench = await SqlBench.open({ t: { columns, rows } });
    try {
      const [row] = await bench.rows(
        'SELECT approx_distinct(time), approx_distinct(host), approx_distinct(host) FILTER (WHERE time < to_timestamp(10)) FROM t',
      );
      const [times, hosts, few] = (row ?? '').split('|').map(Number);
      assert.ok(Math.abs((times ?? 0) - 1000) <= 30, `${times} of 1000 times`);
      assert.ok(Math.abs((hosts ?? 0) - 250) <= 8, `${hosts} of 250 hosts`);
      assert.equal(few, 10);
    } finally {
      await bench.close();
    }
  });
});
