// Source: tsdb-http, "Arrow Flight / Flight SQL"; gRPC over HTTP/2.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, constants } from 'node:http2';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  encode,
  FlightClient,
  flightMessageOf,
  jsonTicket,
  rowsOfTable,
  statusOf,
  tableOf,
} from '../../harness/flight-client.js';
import { assertEmpty, Http2Client, rows, ServerInProcess } from '../../harness/index.js';

const CANCELLED = 1;
const INVALID_ARGUMENT = 3;
const DEADLINE_EXCEEDED = 4;
const NOT_FOUND = 5;
const RESOURCE_EXHAUSTED = 8;
const UNIMPLEMENTED = 12;
const INTERNAL = 13;
const DO_GET = '/arrow.flight.protocol.FlightService/DoGet';

let server: ServerInProcess;
let client: FlightClient;
before(async () => {
  server = await ServerInProcess.start();
  const lines = Array.from(
    { length: 20_000 },
    (_, i) => `cpu,host=host_${i % 7},region=eu\\ west usage=${i / 4},n=${i}i ${i * 1000}`,
  );
  const body = lines.join('\n');
  assertEmpty(await server.http.send('/api/v3/write_lp?db=f&precision=ns', { body }));
  client = new FlightClient(server.url);
});
after(async () => {
  client.close();
  await server.close();
});

const sql = (sql_query: string, more: object = {}) =>
  jsonTicket({ database: 'f', sql_query, ...more });

/** A query that never ends. */
const ENDLESS = 'SELECT count(*) FROM cpu a, cpu b, cpu c WHERE a.n + b.n + c.n < 0';

describe('the answer to a ticket', () => {
  it('F-01 is a schema and record batches, without dictionaries', async () => {
    const messages = await client.doGet(
      sql('SELECT host, region, usage, n, time FROM cpu ORDER BY n'),
    );
    const [first, ...batches] = messages;
    assert.equal(first?.body.length, 0);
    assert.ok(batches.length > 1);
    assert.ok(batches.every(({ body }) => body.length > 0 && body.length < 2_097_152));
    const table = tableOf(messages);
    assert.deepEqual(table.schema.fields.map(String), [
      'host: Utf8',
      'region: Utf8',
      'usage: Float64',
      'n: Int64',
      'time: Timestamp<NANOSECOND>',
    ]);
    assert.equal(table.numRows, 20_000);
    const column = (name: string) => table.getChild(name);
    for (const i of [0, 1, 6, 12_345, 19_999]) {
      assert.equal(column('host')?.get(i), `host_${i % 7}`);
      assert.equal(column('region')?.get(i), 'eu west');
      assert.equal(column('usage')?.get(i), i / 4);
      assert.equal(column('n')?.get(i), BigInt(i));
    }
    const times = table
      .getChild('time')
      ?.data.flatMap(({ values }) => [...(values as BigInt64Array)]);
    assert.equal(times?.[12_345], 12_345_000n);
  });

  it('F-01 says what its columns are in their table, unless they were computed', async () => {
    const q = 'SELECT host, usage, n AS count, usage + 1 AS more, time FROM cpu LIMIT 1';
    const { fields } = (await client.table(sql(q))).schema;
    const kinds = fields.map(({ name, metadata, nullable }) => [
      name,
      metadata.get('iox::column::type'),
      nullable,
    ]);
    assert.deepEqual(kinds, [
      ['host', 'iox::column_type::tag', true],
      ['usage', 'iox::column_type::field::float', true],
      ['count', 'iox::column_type::field::integer', true],
      ['more', undefined, true],
      ['time', 'iox::column_type::timestamp', false],
    ]);
  });

  it('F-01 says what the columns of InfluxQL are in their table, unless they were computed', async () => {
    const q = 'SELECT usage, n AS count, host, usage + 1 AS more FROM cpu LIMIT 1';
    const { fields } = (await client.table(sql(q, { query_type: 'influxql' }))).schema;
    const kinds = fields.map(({ name, metadata }) => [name, metadata.get('iox::column::type')]);
    assert.deepEqual(kinds.slice(1), [
      ['time', 'iox::column_type::timestamp'],
      ['usage', 'iox::column_type::field::float'],
      ['count', 'iox::column_type::field::integer'],
      ['host', 'iox::column_type::tag'],
      ['more', undefined],
    ]);
  });

  it('F-01 names the columns that group InfluxQL', async () => {
    const query_type = 'influxql';
    const q = 'SELECT mean(usage) FROM cpu GROUP BY host, region';
    const { schema } = await client.table(sql(q, { query_type }));
    assert.deepEqual(
      schema.fields.map(({ name }) => name),
      ['iox::measurement', 'time', 'host', 'region', 'mean'],
    );
    assert.deepEqual(JSON.parse(schema.metadata.get('iox::influxql::group_key::metadata') ?? ''), {
      measurement_column_index: 0,
      tag_key_columns: [
        { tag_key: 'host', column_index: 2, is_projected: false },
        { tag_key: 'region', column_index: 3, is_projected: false },
      ],
    });
  });

  it('F-01 names the column of the measurement in every answer in InfluxQL, not in SELECT alone', async () => {
    for (const [q, first] of [
      ['SHOW MEASUREMENTS', 'iox::measurement'],
      ['SHOW TAG KEYS', 'iox::measurement'],
      ['SHOW TAG VALUES WITH KEY = host', 'iox::measurement'],
      ['SHOW FIELD KEYS', 'iox::measurement'],
      ['SHOW FIELD KEYS FROM nothing_there', 'iox::measurement'],
      ['SHOW RETENTION POLICIES', 'iox::database'],
      ['EXPLAIN SELECT usage FROM cpu', 'iox::measurement'],
    ] as const) {
      const { schema } = await client.table(sql(q, { query_type: 'influxql' }));
      const groupKey = schema.metadata.get('iox::influxql::group_key::metadata') ?? '{}';
      const expected = { measurement_column_index: 0, tag_key_columns: [] };
      assert.deepEqual(JSON.parse(groupKey), expected, q);
      assert.equal(schema.fields[0]?.name, first, q);
    }
  });

  it('F-01 has its columns also without rows', async () => {
    const table = await client.table(sql('SELECT host, usage FROM cpu WHERE n < 0'));
    assert.equal(table.numRows, 0);
    assert.deepEqual(table.schema.fields.map(String), ['host: Utf8', 'usage: Float64']);
  });

  it('F-01 is the same as over HTTP', async () => {
    for (const q of [
      'SELECT host, count(*) AS c, avg(usage) AS m FROM cpu GROUP BY host ORDER BY host',
      "SELECT n, usage FROM cpu WHERE host = 'host_3' ORDER BY time LIMIT 5",
      "SELECT true AS t, NULL AS z, 'ü' AS u, -1.5 AS f",
    ]) {
      const flat = rowsOfTable(await client.table(sql(q))).map((row) =>
        Object.fromEntries(
          Object.entries(row as object)
            .filter(([, value]) => value !== null)
            .map(([key, value]) => [key, typeof value === 'bigint' ? Number(value) : value]),
        ),
      );
      assert.deepEqual(flat, await rows(server, 'f', q), q);
    }
  });
});

describe('a ticket', () => {
  const readInfo = (fields: object) => encode('ReadInfo', { database: 'f', ...fields });
  const wrapped = (value: Uint8Array) =>
    encode('Any', { type_url: 'type.googleapis.com/influxdata.iox.querier.v1.ReadInfo', value });

  it('F-01 may be JSON, ReadInfo, or ReadInfo in an Any', async () => {
    const sql_query = 'SELECT $a AS a, $b AS b, $c AS c, $d AS d, $e AS e';
    const params = [
      { name: 'a', int64: '-9007199254740993' },
      { name: 'b', uint64: '9007199254740993' },
      { name: 'c', float64: 1.5 },
      { name: 'd', text: 'x' },
      { name: 'e', bool: true },
    ];
    const expected = { a: -9007199254740993n, b: 9007199254740993n, c: 1.5, d: 'x', e: true };
    for (const ticket of [
      readInfo({ sql_query, params }),
      wrapped(readInfo({ sql_query, params, query_type: 1 })),
    ]) {
      const [row] = rowsOfTable(await client.table(ticket));
      assert.deepEqual(row, expected);
    }
    const json = sql(sql_query, { params: { a: 1, b: 2, c: 1.5, d: 'x', e: true } });
    assert.deepEqual(rowsOfTable(await client.table(json)), [
      { a: 1n, b: 2n, c: 1.5, d: 'x', e: true },
    ]);
    const influxql = readInfo({ sql_query: 'SELECT count(n) FROM cpu', query_type: 2 });
    assert.equal((await client.table(influxql)).getChild('count')?.get(0), 20_000n);
  });

  it('F-01 names its database in one of four ways', async () => {
    for (const name of ['database', 'namespace_name', 'bucket', 'bucket-name']) {
      const ticket = jsonTicket({ [name]: 'f', sql_query: 'SELECT 1 AS n', query_type: 'sql' });
      assert.equal((await client.table(ticket)).numRows, 1);
    }
  });

  it('F-01 that is none is refused', async () => {
    const tickets: readonly Uint8Array[] = [
      Buffer.alloc(0),
      Buffer.from('nonsense'),
      Buffer.from('{'),
      Buffer.from('{"database":"f"}'),
      Buffer.from('{"sql_query":"SELECT 1"}'),
      Buffer.from('{"database":1,"sql_query":"SELECT 1"}'),
      Buffer.from('{"database":"f","sql_query":"SELECT 1","query_type":"flux"}'),
      Buffer.from('{"database":"f","bucket":"g","sql_query":"SELECT 1"}'),
      Buffer.from('{"database":"f","rp":"typo","sql_query":"SELECT 1"}'),
      Buffer.from('{"database":"f","sql_query":"SELECT 1","params":[1]}'),
      Buffer.from('{"database":"f","sql_query":"SELECT 1","params":{"a":{}}}'),
      Buffer.from('[]'),
      Buffer.from('{"database":"f\xff","sql_query":"SELECT 1"}', 'latin1'),
      readInfo({ query_type: 9, sql_query: 'SELECT 1' }),
      encode('ReadInfo', { sql_query: 'SELECT 1' }),
      wrapped(Buffer.from([0xff, 0xff, 0xff])),
      Buffer.alloc(300_000, 0x0b),
    ];
    for (const ticket of tickets) {
      const { code, details } = await statusOf(client.doGet(ticket));
      const shown = Buffer.from(ticket.subarray(0, 80)).toString();
      assert.equal(code, INVALID_ARGUMENT, shown);
      assert.match(details, /^Invalid ticket\. Error: ./, shown);
    }
    const { code, details } = await statusOf(
      client.doGet(jsonTicket({ database: 'x', sql_query: 'SELECT 1' })),
    );
    assert.deepEqual({ code, details }, { code: NOT_FOUND, details: 'database not found: x' });
  });
});

describe('a call', () => {
  it('F-01 ends at its deadline, and its query with it', async () => {
    const startMs = Date.now();
    const { code } = await statusOf(client.doGet(sql(ENDLESS), { deadlineMs: 400 }));
    assert.equal(code, DEADLINE_EXCEEDED);
    assert.ok(Date.now() - startMs < 30_000);
    await noQueryRuns();
  });

  it('F-01 is told of its deadline by the server, too', async () => {
    const late = await rawCall({ 'grpc-timeout': '200m' }, sql(ENDLESS));
    assert.equal({ ...late.headers, ...late.trailers }['grpc-status'], String(DEADLINE_EXCEEDED));
    for (const odd of ['', '5', '5x', '123456789S', '-1S']) {
      const refused = await rawCall({ 'grpc-timeout': odd }, sql('SELECT 1'));
      assert.equal(refused.headers['grpc-status'], String(INVALID_ARGUMENT), odd);
    }
    const far = await rawCall({ 'grpc-timeout': '99999999H' }, sql('SELECT 1'));
    assert.equal(far.trailers['grpc-status'], '0');
    // Whether a short deadline is met is random, but a response cut by the deadline must not look complete.
    for (let ms = 1; ms <= 20; ms++) {
      const { headers, trailers, data } = await rawCall(
        { 'grpc-timeout': `${ms}m` },
        sql('SELECT 1'),
      );
      const status = { ...headers, ...trailers }['grpc-status'];
      if (status === '0') assert.equal(data.length, far.data.length, `${ms} ms`);
      else assert.equal(status, String(DEADLINE_EXCEEDED));
    }
  });

  it('F-01 that is canceled interrupts its query', async () => {
    const stream = client.stream('DoGet', encode('Ticket', { ticket: sql(ENDLESS) }));
    const ended = new Promise<number>((resolve) => {
      stream.on('error', (error: Error & { code?: number }) => resolve(error.code ?? -1));
    });
    await sleep(300);
    stream.cancel();
    assert.equal(await ended, CANCELLED);
    await noQueryRuns();
  });

  it('F-01 that is reset as soon as it is sent leaves no query behind', async () => {
    const speed = 8;
    await using fast = await ServerInProcess.start({ speed });
    const body = Array.from({ length: 20_000 }, (_, n) => `cpu n=${n}i ${n}`).join('\n');
    assertEmpty(await fast.http.send('/api/v3/write_lp?db=f', { body }));
    const session = connect(fast.url);
    session.on('error', () => {});
    const bytes = framed(encode('Ticket', { ticket: sql(ENDLESS) }));
    for (let count = 0; count < 300; count++) {
      const headers = { ':method': 'POST', ':path': DO_GET, 'content-type': 'application/grpc' };
      const stream = session.request(headers);
      stream.on('error', () => {});
      stream.end(bytes);
      // Some are canceled before the server has read them, others while they wait for a DuckDB thread.
      if (count % 3 === 0) await sleep(1);
      stream.close(constants.NGHTTP2_CANCEL);
    }
    session.close();
    await noQueryRuns(fast);
    // A keep-alive message that is due in the meantime has no recipient.
    await sleep(11_000 / speed);
    const own = new FlightClient(fast.url);
    assert.equal((await own.table(sql('SELECT 1'))).numRows, 1);
    own.close();
  });

  it('F-01 that is taken back together with others is seldom even planned', async () => {
    const session = connect(server.url);
    session.on('error', () => {});
    const bytes = framed(encode('Ticket', { ticket: sql("SELECT 'taken back'") }));
    const closed: Promise<unknown>[] = [];
    for (let count = 0; count < 100; count++) {
      const headers = { ':method': 'POST', ':path': DO_GET, 'content-type': 'application/grpc' };
      const stream = session.request(headers);
      stream.on('error', () => {});
      closed.push(once(stream, 'close'));
      stream.end(bytes);
      stream.close(constants.NGHTTP2_CANCEL);
    }
    await Promise.all(closed);
    // The session is alive, and the server has read everything sent before.
    await once(session.request({ ':path': '/health' }).resume(), 'end');
    session.close();
    const planned = "SELECT 1 FROM system.queries WHERE query_text = 'SELECT ''taken back'''";
    // One statement may start at the end of a read.
    const { numRows } = await client.table(sql(planned));
    assert.ok(numRows <= 10, `${numRows} of 100 were planned`);
  });

  it('F-01 hears of failures after the first rows', async () => {
    const q =
      "SELECT CASE WHEN n = 19999 THEN CAST('x' || host AS BIGINT) ELSE n END AS n FROM cpu ORDER BY n";
    const { code, details } = await statusOf(client.doGet(sql(q)));
    assert.equal(code, INVALID_ARGUMENT);
    assert.match(details, /Cannot cast string/);
  });

  it('F-01 that waits for its rows gets a sign of life', async () => {
    const ticket = encode('Ticket', { ticket: sql(ENDLESS) });
    const stream = client.stream('DoGet', ticket);
    const seen: Buffer[] = [];
    stream.on('data', (message: Buffer) => seen.push(message));
    stream.on('error', () => {});
    for (let count = 0; count < 120 && seen.length < 2; count++) await sleep(100);
    stream.cancel();
    assert.equal(seen.length, 2);
    assert.equal(tableOf(seen.map(flightMessageOf)).numRows, 0);
    await noQueryRuns();
  });

  it('F-01 may be compressed, and is answered the same way then', async () => {
    using gzip = new FlightClient(server.url, { 'grpc.default_compression_algorithm': 2 });
    const table = await gzip.table(sql('SELECT n FROM cpu ORDER BY n'));
    assert.equal(table.numRows, 20_000);
    assert.equal(table.getChildAt(0)?.get(19_999), 19_999n);
    const response = await rawCall(
      { 'grpc-encoding': 'gzip', 'grpc-accept-encoding': 'identity,gzip' },
      sql('SELECT 1'),
    );
    assert.equal(response.headers['grpc-encoding'], 'gzip');
    assert.equal(response.data[0], 1);
    const plain = await rawCall({ 'grpc-accept-encoding': 'gzip' }, sql('SELECT 1'));
    assert.equal(plain.headers['grpc-encoding'], undefined);
    assert.equal(plain.data[0], 0);
    const odd = await rawCall({ 'grpc-encoding': 'snappy' }, sql('SELECT 1'));
    assert.equal(odd.headers['grpc-status'], String(UNIMPLEMENTED));
    assert.match(String(odd.headers['grpc-accept-encoding']), /gzip/);
  });

  it('T-01 shares its connection with plain requests', async () => {
    const session = connect(server.url);
    const plain = session.request({ ':path': '/health' }).toArray();
    const call = session.request({
      ':method': 'POST',
      ':path': DO_GET,
      'content-type': 'application/grpc+proto',
      te: 'trailers',
    });
    call.end(framed(encode('Ticket', { ticket: sql('SELECT 1') })));
    call.resume();
    const [trailers] = (await once(call, 'trailers')) as [Record<string, string>];
    assert.equal(trailers['grpc-status'], '0');
    assert.equal((await plain).join(''), 'OK');
    session.close();
  });

  it('T-01 of something else than gRPC is refused', async () => {
    const response = await server.http.send(DO_GET, { body: 'x' });
    assert.equal(response.status, 415);
    await using http2 = new Http2Client(server.url);
    const headers = { 'content-type': 'application/json' };
    assert.equal((await http2.send(DO_GET, { body: '{}', headers })).status, 415);
    const other = await rawCall({}, sql('SELECT 1'), '/some.other.Service/Method');
    assert.equal(other.headers[':status'], 404);
  });

  it('F-01 beyond the limit of a message is refused', async () => {
    const huge = sql(`SELECT '${'x'.repeat(11_000_000)}'`);
    const { code } = await statusOf(client.doGet(huge));
    assert.equal(code, RESOURCE_EXHAUSTED);
    const long = sql(`SELECT '${'x'.repeat(500_000)}' AS x`);
    const table = await client.table(long);
    assert.equal(String(table.getChildAt(0)?.get(0)).length, 500_000);
  });

  it('F-01 with long failures gets the first 2000 characters of them', async () => {
    const { code, details } = await statusOf(
      client.doGet(sql(`SELECT "${'ü'.repeat(5000)}" FROM cpu`)),
    );
    assert.equal(code, INVALID_ARGUMENT);
    assert.equal(details.length, 2000);
    assert.ok(details.includes('ü'));
  });

  it('F-01 with bytes that are no message is refused, and the server lives on', async () => {
    const pieces: readonly (readonly [Buffer, number])[] = [
      [Buffer.alloc(0), INTERNAL],
      [Buffer.from([0, 0, 0]), INTERNAL],
      [Buffer.from([0, 0, 0, 0, 9, 1, 2]), INTERNAL],
      [Buffer.from([7, 0, 0, 0, 1, 1]), INTERNAL],
      [Buffer.from([0, 255, 255, 255, 255, 1]), RESOURCE_EXHAUSTED],
      [Buffer.from([1, 0, 0, 0, 2, 1, 1]), INTERNAL],
      [Buffer.from([0, 0, 0, 0, 3, 255, 255, 255]), INVALID_ARGUMENT],
    ];
    for (const method of ['DoGet', 'GetFlightInfo', 'DoAction', 'DoPut', 'Handshake']) {
      for (const [bytes, code] of pieces) {
        const path = `/arrow.flight.protocol.FlightService/${method}`;
        const { headers, trailers } = await rawBytes({}, bytes, path);
        const status = trailers['grpc-status'] ?? headers['grpc-status'];
        assert.ok(status !== undefined, `${method} ${bytes.toString('hex')}`);
        if (method === 'DoGet') assert.equal(status, String(code), bytes.toString('hex'));
        assert.ok(status !== '0' || method === 'Handshake', `${method} ${bytes.toString('hex')}`);
      }
    }
    assert.equal((await client.table(sql('SELECT 1'))).numRows, 1);
    assert.ok(!server.logText.includes('"level":"error"'), server.logText);
  });
});

/** Fails when a query is still running after a while. */
async function noQueryRuns(on: ServerInProcess = server): Promise<void> {
  const q =
    "SELECT count(*) AS n FROM system.queries WHERE running AND query_text LIKE '%cpu c%' AND query_text NOT LIKE '%system%'";
  let n: unknown;
  for (let count = 0; count < 50; count++) {
    n = ((await rows(on, 'f', q)) as readonly unknown[])[0];
    if ((n as { n: number }).n === 0) return;
    await sleep(100);
  }
  assert.fail(JSON.stringify(n));
}

function framed(message: Uint8Array): Buffer {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}

const rawCall = async (
  headers: Readonly<Record<string, string>>,
  ticket: Uint8Array,
  path: string = DO_GET,
) => await rawBytes(headers, framed(encode('Ticket', { ticket })), path);

/** A call that records every header. */
async function rawBytes(
  fields: Readonly<Record<string, string>>,
  bytes: Uint8Array,
  path: string,
): Promise<{
  readonly headers: Record<string, unknown>;
  readonly trailers: Record<string, unknown>;
  readonly data: Buffer;
}> {
  const session = connect(server.url);
  try {
    const stream = session.request({
      ':method': 'POST',
      ':path': path,
      'content-type': 'application/grpc',
      te: 'trailers',
      ...fields,
    });
    let headers: Record<string, unknown> = {};
    let trailers: Record<string, unknown> = {};
    stream.on('response', (received) => {
      headers = received;
    });
    stream.on('trailers', (received) => {
      trailers = received;
    });
    stream.end(bytes);
    const data = Buffer.concat(await stream.toArray());
    return { headers, trailers, data };
  } finally {
    session.close();
  }
}
