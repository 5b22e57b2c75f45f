// Source: tsdb-http, "Arrow Flight / Flight SQL" and "Client interop": influxdb3-js, its queries.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { InfluxDBClient, setLogger } from '@influxdata/influxdb3-client';
import { ServerInProcess } from '../../harness/index.js';

let server: ServerInProcess;
let token = '';
let client: InfluxDBClient;
before(async () => {
  setLogger({ error() {}, warn() {} });
  server = await ServerInProcess.start({ flags: [] });
  const created = await server.http.send('/api/v3/configure/token/admin', { method: 'POST' });
  token = (JSON.parse(created.text) as { token: string }).token;
  client = new InfluxDBClient({ host: server.url, token, database: 'home' });
  await client.write(
    [
      'room,name=Kitchen,floor=0 temp=21.5,people=3i,lux=7u,note="warm",lit=true 1767225600000000000',
      'room,name=Küche temp=22 1767225600001000000',
      'room,floor=2 people=-4i,lit=false 1767225660123456789',
    ].join('\n'),
  );
});
after(async () => {
  await client.close();
  await server.close();
});

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

/** Returns code and message of the final status of a query. */
async function failureOf(items: AsyncIterable<unknown>) {
  try {
    await all(items);
  } catch (error) {
    const { code, message } = error as { readonly code: string; readonly message: string };
    return { code, message };
  }
  assert.fail('the query was answered');
}

describe('queries of @influxdata/influxdb3-client', () => {
  it('F-01 gives rows with the types of their columns', async () => {
    const q = 'SELECT name, floor, temp, people, note, lit, time FROM room ORDER BY time';
    assert.deepEqual(await all(client.query(q)), [
      {
        ...{ name: 'Kitchen', floor: '0', temp: 21.5, people: 3, note: 'warm', lit: true },
        time: 1767225600000,
      },
      {
        ...{ name: 'Küche', floor: null, temp: 22, people: null, note: null, lit: null },
        time: 1767225600001,
      },
      {
        ...{ name: null, floor: '2', temp: null, people: -4, note: null, lit: false },
        time: 1767225660123.4568,
      },
    ]);
  });

  it('F-01 makes points with tags and typed fields', async () => {
    const [first, , third] = await all(client.queryPoints('SELECT * FROM room ORDER BY time'));
    assert.ok(first && third);
    assert.deepEqual(first.getTagNames().sort(), ['floor', 'name']);
    assert.equal(first.getTag('name'), 'Kitchen');
    assert.deepEqual(first.getFieldNames().sort(), ['lit', 'lux', 'note', 'people', 'temp']);
    assert.equal(first.getFieldType('temp'), 'float');
    assert.equal(first.getFieldType('people'), 'integer');
    assert.equal(first.getFieldType('lux'), 'uinteger');
    assert.equal(first.getFieldType('note'), 'string');
    assert.equal(first.getFieldType('lit'), 'boolean');
    assert.equal(first.getIntegerField('people'), 3);
    assert.equal(first.getTimestamp(), 1767225600000);
    assert.deepEqual(third.getFieldNames().sort(), ['lit', 'people']);
    assert.deepEqual(third.getTagNames(), ['floor']);
  });

  it('F-01 binds parameters of every type', async () => {
    const q =
      'SELECT people FROM room WHERE temp > $least AND name = $name AND lit = $lit AND people = $people';
    const params = { least: 20.5, name: 'Kitchen', lit: true, people: 3 };
    assert.deepEqual(await all(client.query(q, 'home', { params })), [{ people: 3 }]);
    const none = { ...params, name: "' OR true --" };
    assert.deepEqual(await all(client.query(q, 'home', { params: none })), []);
  });

  it('F-01 speaks InfluxQL, the measurement first', async () => {
    const type = 'influxql';
    const q = 'SELECT mean(temp) FROM room GROUP BY "name"';
    assert.deepEqual(
      await all(client.query(q, 'home', { type })),
      [
        { 'iox::measurement': 'room', time: 0, name: null, mean: null },
        { 'iox::measurement': 'room', time: 0, name: 'Kitchen', mean: 21.5 },
        { 'iox::measurement': 'room', time: 0, name: 'Küche', mean: 22 },
      ].filter(({ mean }) => mean !== null),
    );
    const raw = 'SELECT temp, people FROM room WHERE "name" = $name';
    const options = { type, params: { name: 'Kitchen' } } as const;
    assert.deepEqual(await all(client.query(raw, 'home', options)), [
      { 'iox::measurement': 'room', time: 1767225600000, temp: 21.5, people: 3 },
    ]);
    const shown = await all(client.query('SHOW MEASUREMENTS', 'home', { type }));
    assert.deepEqual(shown, [{ 'iox::measurement': 'measurements', name: 'room' }]);
  });

  it('F-01 answers an empty result with its columns', async () => {
    assert.deepEqual(await all(client.query('SELECT * FROM room WHERE temp > 1000')), []);
  });

  it('F-01 says what is wrong, with the status for it', async () => {
    const planning = 'Error while planning query: ';
    const cases: readonly (readonly [string, string, RegExp | string])[] = [
      [
        'SELECT 1 FROM nowhere',
        'INVALID_ARGUMENT',
        `${planning}Error during planning: table 'public.iox.nowhere' not found`,
      ],
      [
        'SELECT nope FROM room',
        'INVALID_ARGUMENT',
        /^Error while planning query: Schema error: No field named nope\. /,
      ],
      ['SELEC', 'INVALID_ARGUMENT', /^Error while planning query: SQL error: ParserError\(".+"\)$/],
      [
        'DROP TABLE room',
        'INVALID_ARGUMENT',
        /^Error while planning query: Error during planning: DDL not supported: DropTable$/,
      ],
      ['SELECT 1; SELECT 2', 'UNIMPLEMENTED', /^This feature is not implemented: /],
      [
        "SELECT cast('x' AS BIGINT) FROM room",
        'INVALID_ARGUMENT',
        /Cannot cast string 'x' to value of Int64 type/,
      ],
    ];
    for (const [q, code, message] of cases) {
      const failure = await failureOf(client.query(q));
      assert.equal(failure.code, code, `${q}: ${failure.message}`);
      if (typeof message === 'string') assert.equal(failure.message, message);
      else assert.match(failure.message, message);
    }
    assert.deepEqual(await failureOf(client.query('SELECT 1', 'nowhere')), {
      code: 'NOT_FOUND',
      message: 'database not found: nowhere',
    });
    const influxql = await failureOf(client.query('SELEC', 'home', { type: 'influxql' }));
    assert.equal(influxql.code, 'INVALID_ARGUMENT');
    assert.match(influxql.message, /error in InfluxQL statement: parsing error: /);
  });

  it('A-01 A-03 asks for a token as HTTP does', async () => {
    for (const wrong of ['wrong', `${token}x`]) {
      const stranger = new InfluxDBClient({ host: server.url, token: wrong, database: 'home' });
      try {
        const { code, message } = await failureOf(stranger.query('SELECT 1'));
        assert.deepEqual(
          { code, message },
          {
            code: 'UNAUTHENTICATED',
            message: 'the request was not authenticated',
          },
        );
      } finally {
        await stranger.close();
      }
    }
  });

  it('F-01 learns the version of the server', async () => {
    assert.match((await client.getServerVersion()) ?? '', /^3\.\d+\.\d+/);
  });

  it('F-01 streams large results whole and in order', async () => {
    const count = 200_000;
    const batch = 50_000;
    for (let from = 0; from < count; from += batch) {
      const lines = Array.from({ length: batch }, (_, i) => {
        const n = from + i;
        return `wide,host=h${n % 10},region=r${n % 3} a=${n},b=${n * 2}i,s="text ${n}" ${n}`;
      });
      await client.write(lines);
    }
    let index = 0;
    for await (const row of client.query('SELECT a, b, host, s FROM wide ORDER BY time')) {
      if (
        row['a'] !== index ||
        row['b'] !== index * 2 ||
        row['host'] !== `h${index % 10}` ||
        row['s'] !== `text ${index}`
      ) {
        assert.fail(`row ${index} is ${JSON.stringify(row)}`);
      }
      index++;
    }
    assert.equal(index, count);
  });
});
