// Source: tsdb-http, "Common failures", section 20.2 and "Differences between the profiles": failures of a statement's values.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { encode, FlightClient, jsonTicket, statusOf } from '../../harness/flight-client.js';
import { assertEmpty, ServerInProcess } from '../../harness/index.js';

const [INVALID_ARGUMENT, INTERNAL] = [3, 13];
/** More rows precede the failing one than DuckDB computes in advance. */
const LATE = 'SELECT 10 / (250000 - value) AS a FROM generate_series(1, 300000)';
const VALUES: readonly (readonly [q: string, words: string])[] = [
  ['SELECT 1 / 0', 'Arrow error: Divide by zero error'],
  ['SELECT v / (v - v) FROM m', 'Arrow error: Divide by zero error'],
  [
    'SELECT 10 / (2500 - value) AS a FROM generate_series(1, 3000)',
    'Arrow error: Divide by zero error',
  ],
  [
    'SELECT v + 9223372036854775807 FROM m',
    'Arrow error: Arithmetic overflow: Overflow happened on: 1 + 9223372036854775807',
  ],
  ['SELECT CAST(s AS BIGINT) FROM m', "Cast error: Cannot cast string 'x' to value of Int64 type"],
  ['SELECT factorial(100)', 'Execution error: Overflow happened on FACTORIAL(100)'],
  ["SELECT substr('abc', 0, -1)", 'Execution error: negative count not allowed: -1'],
  [
    'SELECT (SELECT value FROM generate_series(1, 2))',
    'Execution error: Scalar subquery returned more than one row',
  ],
  ['SELECT v FROM m GROUP BY v HAVING sum(v) / 0 > 1', 'Arrow error: Divide by zero error'],
];

for (const [profile, status, code] of [
  ['documented', 400, INVALID_ARGUMENT],
  ['influxdb3', 500, INTERNAL],
] as const) {
  describe(`values that cannot be computed, in the profile ${profile}`, () => {
    let server: ServerInProcess;
    let flight: FlightClient;
    before(async () => {
      server = await ServerInProcess.start({
        flags: ['--without-auth', '--services', 'tsdb', '--tsdb-compat', profile],
      });
      assertEmpty(
        await server.http.send('/api/v3/write_lp?db=d', { body: 'm,h=a v=1i,s="x" 1000' }),
      );
      flight = new FlightClient(server.url);
    });
    after(async () => {
      flight.close();
      await server.close();
    });

    const send = (q: string, format = 'json') =>
      server.http.send(`/api/v3/query_sql?${new URLSearchParams({ db: 'd', q, format })}`);
    const textOf = (words: string): string => {
      const error = `query error: error while executing plan: ${words}`;
      return profile === 'influxdb3' ? error : JSON.stringify({ error, data: {} });
    };

    it(`are ${status}, in every format`, async () => {
      for (const [q, words] of VALUES) {
        for (const format of ['json', 'jsonl', 'csv', 'pretty', 'arrow', 'parquet']) {
          const response = await send(q, format);
          assert.deepEqual(
            [response.status, response.text],
            [status, textOf(words)],
            `${q} ${format}`,
          );
        }
      }
    });

    it('have the code of such a status over Flight, before the first row and behind it', async () => {
      for (const [q, words] of [...VALUES, [LATE, 'Arrow error: Divide by zero error']]) {
        const ticket = jsonTicket({ database: 'd', sql_query: q ?? '' });
        const failure = await statusOf(
          flight.stream('DoGet', encode('Ticket', { ticket })).toArray(),
        );
        assert.deepEqual([failure.code, failure.details], [code, words], q);
      }
    });

    it('cut off a started response without an error log', async () => {
      const cut = await fetch(
        `${server.url}/api/v3/query_sql?${new URLSearchParams({ db: 'd', q: LATE, format: 'csv' })}`,
      );
      assert.equal(cut.status, 200);
      await assert.rejects(cut.text());
      assert.doesNotMatch(server.logText, /"level":"error"/);
    });

    it('are NULL where a value is NULL', async () => {
      const { text } = await send(
        'SELECT NULL / 0 AS a, CAST(NULL AS BIGINT) % 0 AS b, (SELECT sum(v) / sum(v) FROM m WHERE v > 1) AS c',
        'csv',
      );
      assert.equal(text, 'a,b,c\n,,\n');
    });

    it('are 0 for a division by zero in InfluxQL, also beside a statement that fails', async () => {
      const response = await server.http.send(
        `/query?${new URLSearchParams({ db: 'd', q: 'SELECT v / 0 FROM m; SELECT foo(v) FROM m' })}`,
      );
      assert.equal(response.status, 200);
      assert.match(response.text, /"values":\[\["1970-01-01T00:16:40Z",0\]\]/);
      assert.match(response.text, /"error":"/);
    });
  });
}
