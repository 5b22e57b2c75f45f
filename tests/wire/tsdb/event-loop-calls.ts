import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { command, decode, encode, type FlightClient } from '../../harness/flight-client.js';
import type { ServerProcess } from '../../harness/index.js';

const LINES_A_WRITE = 20_000;
const KILL_ATTEMPTS = 5;
const MAX_URL_LENGTH = 4000;

export async function write(
  server: ServerProcess,
  database: string,
  count: number,
  line: (i: number) => string,
): Promise<void> {
  for (let from = 0; from < count; from += LINES_A_WRITE) {
    const length = Math.min(LINES_A_WRITE, count - from);
    const body = Array.from({ length }, (_, i) => line(from + i)).join('\n');
    const { status, text } = await server.http.send(`/write?db=${database}`, { body });
    assert.equal(status, 204, text);
  }
}

export async function post(server: ServerProcess, text: string, db = 'd'): Promise<void> {
  const q = text.replaceAll('$db', db);
  const response = await postRaw(server, q, db);
  assert.doesNotMatch(response.slice(0, 300), /"error"/, q);
}

async function postRaw(server: ServerProcess, q: string, db = 'd'): Promise<string> {
  const { status, text } = await server.http.send('/query', {
    body: new URLSearchParams({ db, q }).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });
  assert.equal(status, 200, `${q}: ${text.slice(0, 300)}`);
  return text;
}

export async function errorOf(server: ServerProcess, q: string): Promise<string> {
  const { results } = JSON.parse(await postRaw(server, q)) as {
    readonly results: readonly [{ readonly error?: string }];
  };
  return results[0].error ?? '';
}

export async function refuse(server: ServerProcess, q: string): Promise<void> {
  const { status, text } = await server.http.send(
    `/api/v3/query_sql?${new URLSearchParams({ db: 'd', q })}`,
  );
  assert.ok(status === 400 || status === 405, `${q}: ${status} ${text.slice(0, 300)}`);
}

/** Stops a running statement. It may end before it is listed, so this is attempted several times. */
export async function killQuery(server: ServerProcess): Promise<void> {
  const slow = 'SELECT median(v), stddev(v), mode(s) FROM m GROUP BY *';
  for (let i = 0; i < KILL_ATTEMPTS; i++) {
    let isOver = false;
    const result = postRaw(server, slow).finally(() => {
      isOver = true;
    });
    while (!isOver) {
      const id = /\[(\d+),"SELECT median/.exec(await postRaw(server, 'SHOW QUERIES'))?.[1];
      if (id !== undefined) await postRaw(server, `KILL QUERY ${id}`);
      await sleep(5);
    }
    if ((await result).includes('query cancelled')) return;
  }
  throw new Error('no statement was stopped');
}

export async function deleteByPredicate(server: ServerProcess): Promise<void> {
  const { status, text } = await server.http.send('/api/v2/delete?bucket=d', {
    body: JSON.stringify({
      start: '1970-01-01T00:00:00Z',
      stop: '2100-01-01T00:00:00Z',
      predicate: '_measurement="m" AND u="none"',
    }),
    headers: { 'content-type': 'application/json' },
  });
  assert.equal(status, 204, text);
}

export async function get(
  server: ServerProcess,
  route: string,
  q: string,
  { db = 'd', format = 'json' }: { readonly db?: string; readonly format?: string } = {},
) {
  // Long statements do not fit into a URL.
  const { status, text } =
    q.length > MAX_URL_LENGTH
      ? await server.http.send(`/api/v3/${route}`, {
          body: JSON.stringify({ db, q, format }),
          headers: { 'content-type': 'application/json' },
        })
      : await server.http.send(`/api/v3/${route}?${new URLSearchParams({ db, q, format })}`);
  assert.equal(status, 200, `${q.slice(0, 300)}: ${text.slice(0, 300)}`);
}

export const statement = (query: string): Uint8Array =>
  command('CommandStatementQuery', 'Statement', { query });

interface FlightTarget {
  readonly language?: 'sql' | 'influxql';
  readonly db?: string;
}

/** Returns bytes: a client that decodes them would take longer than the server. */
export async function callFlight(
  flight: FlightClient,
  cmd: Uint8Array,
  { language = 'sql', db = 'd' }: FlightTarget = {},
): Promise<void> {
  const options = { metadata: { database: db, 'x-influxdata-query-language': language } };
  const descriptor = encode('Descriptor', { type: 2, cmd });
  const [info] = await flight.call('GetFlightInfo', descriptor, options);
  const { endpoint } = decode('Info', info ?? Buffer.alloc(0)) as {
    readonly endpoint: readonly { readonly ticket: { readonly ticket: Uint8Array } }[];
  };
  for (const { ticket } of endpoint) await flight.call('DoGet', encode('Ticket', ticket), options);
}

export async function callTicket(flight: FlightClient, sql_query: string): Promise<void> {
  const ticket = Buffer.from(JSON.stringify({ database: 'd', sql_query }));
  await flight.call('DoGet', encode('Ticket', { ticket }));
}

export async function callPrepared(flight: FlightClient, query: string): Promise<void> {
  const body = command('ActionCreatePreparedStatementRequest', 'Statement', { query });
  const action = encode('Action', { type: 'CreatePreparedStatement', body });
  const [result] = await flight.call('DoAction', action, { metadata: { database: 'd' } });
  const any = decode('Result', result ?? Buffer.alloc(0)) as unknown as { body: Uint8Array };
  const { value } = decode('Any', any.body) as unknown as { value: Uint8Array };
  const { handle } = decode('Prepared', value) as unknown as { handle: Uint8Array };
  await callFlight(flight, command('CommandPreparedStatementQuery', 'Handle', { handle }));
}
