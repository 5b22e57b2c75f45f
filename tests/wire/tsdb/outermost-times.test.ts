// Source: query-languages, "Data model seen by both languages": acknowledged data can be queried.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  assertEmpty,
  FLUSH_AT_ONCE,
  query,
  ServerInProcess,
  untilInFiles,
} from '../../harness/index.js';

let server: ServerInProcess;
before(async () => {
  server = await ServerInProcess.start();
});
after(async () => await server.close());

describe('times at the end of 64 bits', () => {
  it('are kept when a query can find them', async () => {
    const body = 'edge f=1 9223372036854775806\nedge f=2 -9223372036854775806';
    assertEmpty(await server.http.send('/api/v3/write_lp?db=edge&precision=ns', { body }));
    assert.equal(
      await query(server, { db: 'edge', q: 'SELECT f, time FROM edge ORDER BY f', format: 'csv' }),
      'f,time\n1.0,2262-04-11T23:47:16.854775806\n2.0,1677-09-21T00:12:43.145224194\n',
    );
  });

  // The expected strings come from InfluxDB 1.6.7.
  it('are shown on the wall clocks of zones, also beyond 64 bits', async () => {
    const first = '-9223372036854775806';
    const body = `zones f=1 9223372036854775806\nzones f=2 ${first}\nzones f=3 1000000000`;
    assertEmpty(await server.http.send('/api/v3/write_lp?db=edge&precision=ns', { body }));
    for (const [zone, texts] of [
      [
        'Asia/Tokyo',
        [
          '1677-09-21T09:31:42.145224194+09:18',
          '1970-01-01T09:00:01+09:00',
          '2262-04-12T08:47:16.854775806+09:00',
        ],
      ],
      [
        'America/New_York',
        [
          '1677-09-20T19:16:41.145224194-04:56',
          '1969-12-31T19:00:01-05:00',
          '2262-04-11T19:47:16.854775806-04:00',
        ],
      ],
    ] as const) {
      const q = encodeURIComponent(`SELECT f FROM zones tz('${zone}')`);
      const response = await server.http.send(`/query?db=edge&q=${q}`);
      const values = texts.map((text, index) => [text, [2, 3, 1][index]]);
      const series = [{ name: 'zones', columns: ['time', 'f'], values }];
      assert.deepEqual(JSON.parse(response.text), { results: [{ statement_id: 0, series }] });
      const sql = `SELECT tz(time, '${zone}') AS at FROM zones ORDER BY time`;
      assert.equal(
        await query(server, { db: 'edge', q: sql, format: 'csv' }),
        `at\n${texts.join('\n')}\n`,
      );
    }
  });

  // The first bucket starts at the earliest timestamp, as in InfluxDB 1.x (ADR 0101); integers wrap at 64 bits.
  it('stop no buckets, and make no integers beyond 64 bits', async () => {
    const first = '-9223372036854775806';
    const last = '9223372036854775806';
    for (const lines of [`g f=1,n=-9223372036854775808i ${first}`, `g f=2 0`, `g f=4 ${last}`])
      assertEmpty(await server.http.send('/api/v3/write_lp?db=edge&precision=ns', { body: lines }));
    const day = 86_400_000_000_000n;
    const ofLast = `${(BigInt(last) / day) * day}`;
    const influxql = async (q: string): Promise<unknown> => {
      const response = await server.http.send(`/query?db=edge&epoch=ns&q=${encodeURIComponent(q)}`);
      // Numbers of 19 digits become strings.
      const text = response.text.replace(/-?\d{17,}/g, '"$&"');
      const { results } = JSON.parse(text) as { results: { series: { values: unknown }[] }[] };
      return results[0]?.series?.[0]?.values ?? text;
    };
    const days = [
      [first, 1],
      [0, 2],
      [ofLast, 4],
    ];
    const until = "time <= '2262-04-11T23:47:16.854775806Z'";
    // Computed in memory, by DuckDB (the only one with medians), and row by row.
    for (const call of ['sum(f)', 'median(f)', 'mode(f)']) {
      for (const since of ['', "time >= '1677-09-21T00:12:43.145224194Z' AND "]) {
        const q = `SELECT ${call} FROM g WHERE ${since}${until} GROUP BY time(1d) fill(none)`;
        assert.deepEqual(await influxql(q), days, q);
      }
    }
    const century = 36_500n * day;
    const starts = [first, ...[-2n, -1n, 0n, 1n, 2n].map((i) => `${i * century}`)];
    for (const call of ['sum(f)', 'median(f)', 'mode(f)']) {
      const q = `SELECT ${call} FROM g WHERE ${until} GROUP BY time(36500d)`;
      const values = starts.map((start) => [
        start === '0' ? 0 : start,
        { [first]: 1, 0: 2, [`${2n * century}`]: 4 }[start] ?? null,
      ]);
      assert.deepEqual(await influxql(q), values, q);
    }
    assert.deepEqual(await influxql('SELECT abs(n) FROM g'), [[first, '-9223372036854775808']]);
    // The distance between the two ends is 2^64 - 4 ns.
    assert.deepEqual(await influxql(`SELECT elapsed(f, 1ns) FROM g WHERE f <> 2`), [[last, -4]]);
    const sql = (q: string) => query(server, { db: 'edge', q, format: 'csv' });
    const binned =
      'd,f\n1677-09-21T00:12:43.145224194,1.0\n1970-01-01T00:00:00,2.0\n2262-04-11T00:00:00,4.0\n';
    for (const bin of ["date_bin(INTERVAL '1 day', time)", "date_trunc('day', time)"]) {
      assert.equal(
        await sql(`SELECT ${bin} AS d, sum(f) AS f FROM g GROUP BY 1 ORDER BY 1`),
        binned,
      );
      assert.equal(
        await sql(`SELECT ${bin} AS d, median(f) AS f FROM g GROUP BY 1 ORDER BY 1`),
        binned,
      );
    }
  });

  it('are refused when no query can find them', async () => {
    for (const [precision, name] of [
      ['auto', 'Auto'],
      ['nanosecond', 'Nanosecond'],
    ]) {
      for (const time of [2n ** 63n - 1n, 1n - 2n ** 63n, -(2n ** 63n)]) {
        const original_line = `edge f=3 ${time}`;
        const path = `/api/v3/write_lp?db=edge&precision=${precision}`;
        const response = await server.http.send(path, { body: `edge f=4 5\n${original_line}` });
        assert.equal(response.status, 400);
        assert.deepEqual(JSON.parse(response.text), {
          error: 'partial write of line protocol occurred',
          data: [
            {
              original_line,
              line_number: 2,
              error_message: `timestamp, ${time}, out of range for precision: ${name}`,
            },
          ],
        });
      }
    }
  });
});

// Source: tsdb-http, "Common failures", and query-languages, "Numbers".
describe('a value that an expression does not have', () => {
  const cases: readonly (readonly [expression: string, words: RegExp])[] = [
    ["time AT TIME ZONE 'Europe/Berlin'", /Arithmetic overflow/],
    ["time - INTERVAL '1 nanosecond'", /Arithmetic overflow/],
    ["time + INTERVAL '1 day'", /Arithmetic overflow: Overflow happened on: 9/],
    ['to_timestamp(9223372036854775807)', /Arithmetic overflow/],
    ['f::BIGINT / 0', /Divide by zero error/],
    ['CAST(f * 1000 AS TINYINT)', /Cast error: Can't cast value \d000.0 to type Int8/],
    ["CAST('x' AS INT)", /Cast error: Cannot cast string 'x' to value of Int32 type/],
    ["to_timestamp('x', '%Y')", /Error parsing timestamp from 'x'/],
  ];
  const filler = `-- ${'x'.repeat(20_000)}\n`;

  async function assertRefused(at: ServerInProcess): Promise<void> {
    for (const [expression, words] of cases) {
      const plain = `SELECT ${expression} FROM outermost`;
      const grouped = `SELECT ${expression} AS a, count(*) FROM outermost GROUP BY a`;
      for (const q of [plain, grouped, filler + grouped]) {
        const { status, text } = await at.http.send('/api/v3/query_sql', {
          body: JSON.stringify({ db: 'values', q }),
          headers: { 'content-type': 'application/json' },
        });
        assert.equal(status, 400, `${expression}: ${text}`);
        const { error } = JSON.parse(text) as { readonly error: string };
        assert.match(error, /^query error: error while executing plan: /);
        assert.match(error, words);
      }
    }
  }

  it('fails the query with words about the value, before and after a restart', async () => {
    const body =
      'outermost f=1 9223372036854775806\noutermost f=2 -9223372036854775806\noutermost f=3 0';
    assertEmpty(await server.http.send('/api/v3/write_lp?db=values&precision=ns', { body }));
    await assertRefused(server);
    await server.stop();
    const { dataDir } = server;
    const again = await ServerInProcess.start({
      dataDir,
      flags: ['--without-auth', ...FLUSH_AT_ONCE],
    });
    try {
      await untilInFiles(again);
      await assertRefused(again);
    } finally {
      await again.close();
    }
  });
});
