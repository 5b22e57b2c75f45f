// Source: tsdb-http, line protocol, float64 ("Over-long values may become ±Infinity (stored)") and 8.1 (±Infinity is null in JSON).
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { FlightClient, jsonTicket, rowsOfTable } from '../../harness/flight-client.js';
import { SharedServer } from '../../harness/index.js';

it('numbers beyond those of 64 bits are stored as infinities, which JSON has no number for', async () => {
  await using server = await SharedServer.get();
  const body = 'm f=1e999 1\nm f=-1e999 2\nm f=1.5 3';
  const written = await server.http.send('/api/v3/write_lp?db=infinite&precision=ns', { body });
  assert.equal(written.status, 204, written.text);
  const sql = 'SELECT f FROM m ORDER BY time';
  const ask = async (q: string, format: string): Promise<string> =>
    (
      await server.http.send(
        `/api/v3/query_sql?${new URLSearchParams({ db: 'infinite', q, format })}`,
      )
    ).text;
  assert.match(await ask(sql, 'json'), /"values":\[\[null\],\[null\],\[1\.5\]\]/);
  assert.equal(await ask(sql, 'csv'), 'f\ninf\n-inf\n1.5\n');
  // Infinities are not NULL.
  const counted = await ask('SELECT count(f) AS n FROM m WHERE f > 1e308 OR f < -1e308', 'csv');
  assert.equal(counted, 'n\n2\n');
  const flight = new FlightClient(server.url);
  const table = await flight.table(jsonTicket({ database: 'infinite', sql_query: sql }));
  flight.close();
  assert.deepEqual(rowsOfTable(table), [{ f: Infinity }, { f: -Infinity }, { f: 1.5 }]);
});
