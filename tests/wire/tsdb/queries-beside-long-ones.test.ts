// Source: tsdb-http, "Arrow Flight / Flight SQL"; docs/STORAGE-ENGINE.md, "Query path": queries of recent data are served from memory.
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  encode,
  FlightClient,
  jsonTicket,
  rowsOfTable,
  statusOf,
} from '../../harness/flight-client.js';
import { assertEmpty, rows, ServerInProcess } from '../../harness/index.js';

const CANCELLED = 1;
/** A query that never ends. */
const ENDLESS = 'SELECT count(*) FROM cpu a, cpu b, cpu c WHERE a.n + b.n + c.n < 0';
/** One host, grouped by time: a query without DuckDB. */
const NARROW = `SELECT max(n) AS n FROM cpu WHERE host = 'host_1'`;
const ROW_COUNT = 5000;

let server: ServerInProcess;
let flight: FlightClient;
before(async () => {
  server = await ServerInProcess.start({
    flags: ['--without-auth', '--max-concurrent-queries', '1'],
  });
  flight = new FlightClient(server.url);
  const body = Array.from(
    { length: ROW_COUNT },
    (_, i) => `cpu,host=host_${i % 7} n=${i}i ${i + 1}`,
  ).join('\n');
  assertEmpty(await server.http.send('/api/v3/write_lp?db=d&precision=ns', { body }));
});
after(async () => {
  flight.close();
  await server.close();
});

/** The last row number of host 1; there are seven hosts. */
const MOST = ROW_COUNT - 1 - ((ROW_COUNT - 1 - 1) % 7);

it('F-01 what memory answers does not wait for queries that keep DuckDB busy', async () => {
  // The first query loads its columns into memory.
  assert.deepEqual(await rows(server, 'd', NARROW), [{ n: MOST }]);
  const endless = flight.stream(
    'DoGet',
    encode('Ticket', { ticket: jsonTicket({ database: 'd', sql_query: ENDLESS }) }),
  );
  const ended = statusOf(endless.toArray());
  let hasEnded = false;
  void ended.then(() => {
    hasEnded = true;
  });
  // Another query that needs DuckDB: it queues behind the first.
  let second: unknown;
  const waiting = sleep(300).then(async () => {
    second = await rows(server, 'd', 'SELECT count(*) + 1 AS n FROM cpu a JOIN cpu b ON a.n = b.n');
  });
  await sleep(1000);
  assert.deepEqual(await rows(server, 'd', NARROW), [{ n: MOST }]);
  const table = await flight.table(jsonTicket({ database: 'd', sql_query: NARROW }));
  assert.deepEqual(rowsOfTable(table), [{ n: BigInt(MOST) }]);
  const influxql = await server.http.send(
    `/query?db=d&q=${encodeURIComponent(`SELECT mean(n) FROM cpu WHERE host = 'host_1'`)}`,
  );
  assert.match(influxql.text, /,2500\]/);
  assert.equal(hasEnded, false);
  assert.equal(second, undefined);
  endless.cancel();
  assert.equal((await ended).code, CANCELLED);
  await waiting;
  assert.deepEqual(second, [{ n: ROW_COUNT + 1 }]);
});
