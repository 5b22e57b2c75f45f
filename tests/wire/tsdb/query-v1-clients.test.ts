// Source: tsdb-http, "v1 query endpoint" (Accept, DEFAULT policies) and query-languages, sections 9.9 and 10.12; bytes and rows from InfluxDB 1.6.7.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type HttpAnswer, type OwnServer, ServerInProcess } from '../../harness/index.js';

let process: ServerInProcess;
let server: OwnServer;
let dataDir = '';
before(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'plinth-v1-clients-'));
  process = await ServerInProcess.start({ dataDir });
  server = process;
});
after(async () => {
  await server.close();
  await rm(dataDir, { recursive: true, force: true });
});

async function write(db: string, lines: readonly string[], rest = ''): Promise<void> {
  const answer = await server.http.send(`/write?db=${db}${rest}`, { body: lines.join('\n') });
  assert.equal(answer.status, 204, answer.text);
}

const ask = (
  db: string,
  q: string,
  more: Readonly<Record<string, string>> = {},
  headers: Readonly<Record<string, string>> = {},
): Promise<HttpAnswer> =>
  server.http.send(`/query?${new URLSearchParams({ db, q, ...more })}`, {
    method: 'POST',
    headers,
  });

/** Returns the rows of all series of the first statement, or its error. */
async function rows(db: string, q: string, more: Readonly<Record<string, string>> = {}) {
  const { text } = await ask(db, q, { epoch: 's', ...more });
  const [result] = (
    JSON.parse(text) as {
      results: { series?: { values: unknown[][] }[]; error?: string }[];
    }
  ).results;
  return result?.error ?? (result?.series ?? []).flatMap(({ values }) => values);
}

describe('/query for clients of version 1', () => {
  it('V-06 answers MessagePack with the bytes of the real server', async () => {
    await write('mp', [
      'm,host=a f=2,i=-7i,s="x",b=true 1500000001',
      'm,host=b f=0.5,i=100i 2000000000',
    ]);
    const accept = { accept: 'application/x-msgpack' };
    const whole = await ask('mp', 'SELECT * FROM m', {}, accept);
    assert.equal(whole.headers['content-type'], 'application/x-msgpack');
    assert.equal(
      whole.bytes.toString('hex'),
      '81a7726573756c74739182ac73746174656d656e745f696400a67365726965739183a46e616d65a16da7636f6c756d6e7396a474696d65a162a166a4686f7374a169a173a676616c7565739296c70c0500000000000000011dcd6501c3cb4000000000000000a161f9a17896c70c05000000000000000200000000c0cb3fe0000000000000a16264c0',
    );
    const chunked = await ask(
      'mp',
      'SELECT f FROM m',
      { chunked: 'true', chunk_size: '1' },
      accept,
    );
    assert.equal(
      chunked.bytes.toString('hex'),
      '81a7726573756c74739183ac73746174656d656e745f696400a67365726965739184a46e616d65a16da7636f6c756d6e7392a474696d65a166a676616c7565739192c70c0500000000000000011dcd6501cb4000000000000000a77061727469616cc3a77061727469616cc3' +
        '81a7726573756c74739182ac73746174656d656e745f696400a67365726965739183a46e616d65a16da7636f6c756d6e7392a474696d65a166a676616c7565739192c70c05000000000000000200000000cb3fe0000000000000',
    );
    const failed = await ask('mp', 'SELECT nope(f) FROM m', {}, accept);
    assert.match(failed.bytes.toString('latin1'), /unsupported function nope\(\)/);
  });

  it('takes placeholders of stated types', async () => {
    await write('typed', ['m,host=a v=1 1000000000', 'm,host=b v=2 2000000000']);
    const bound = (q: string, params: unknown) =>
      rows('typed', q, { params: JSON.stringify(params) });
    const second = [[2, 2]];
    assert.deepEqual(
      await bound('SELECT v FROM m WHERE host =~ $r', { r: { regex: '^[bc]$' } }),
      second,
    );
    assert.deepEqual(
      await bound('SELECT v FROM m WHERE time > $t', { t: { duration: '1s' } }),
      second,
    );
    assert.deepEqual(
      await bound('SELECT $c FROM m WHERE $k = $v', {
        c: { identifier: 'v' },
        k: { identifier: 'host' },
        v: { string: 'b' },
      }),
      second,
    );
    const refused = await ask('typed', 'SELECT v FROM m', { params: '{"x":{"nope":"1"}}' });
    assert.equal(refused.status, 400);
  });

  // Source: parser_test.go of the 1.x server's InfluxQL module, whose scanner replaces tokens with placeholders.
  it('binds names, counts and durations where no expression stands', async () => {
    await write('places', ['m,host=a v=1 1', 'm,host=a v=3 2', 'm,host=b v=5 60000000001']);
    const bound = async (q: string, params: object) =>
      rows('places', q, { params: JSON.stringify(params) });
    const m = { identifier: 'm' };
    assert.deepEqual(await bound('SELECT v FROM $m LIMIT $n', { m, n: 1 }), [[0, 1]]);
    assert.deepEqual(await bound('SELECT v FROM $m LIMIT $n', { m, n: { integer: 2 } }), [
      [0, 1],
      [0, 3],
    ]);
    assert.deepEqual(
      await bound('SELECT $fn($field) FROM $m WHERE $key = $host', {
        fn: { identifier: 'sum' },
        field: { identifier: 'v' },
        m,
        key: { identifier: 'host' },
        host: 'a',
      }),
      [[0, 4]],
    );
    const type = { identifier: 'float' };
    assert.deepEqual(await bound('SELECT v::$type FROM m LIMIT 1', { type }), [[0, 1]]);
    const nsPerMinute = { duration: 60_000_000_000 };
    assert.deepEqual(
      await bound('SELECT sum(v) FROM m WHERE time >= 0 AND time < 2m GROUP BY time($each)', {
        each: nsPerMinute,
      }),
      [
        [0, 4],
        [60, 5],
      ],
    );
    assert.deepEqual(
      await bound('SHOW TAG VALUES FROM $m WITH KEY = $key', { m, key: { identifier: 'host' } }),
      [
        ['host', 'a'],
        ['host', 'b'],
      ],
    );
    assert.deepEqual(await bound('CREATE DATABASE $db', { db: { identifier: 'made' } }), []);
    assert.ok(((await rows('', 'SHOW DATABASES')) as unknown[][]).flat().includes('made'));
    // Type names used by the Go client and others.
    const named = { f: { number: 1 }, i: { int: 4 }, v: { ident: 'v' } };
    assert.deepEqual(await bound('SELECT $v FROM m WHERE v > $f AND v < $i', named), [[0, 3]]);
    // A bound name is only a name, with any content.
    assert.deepEqual(
      await bound('SELECT v FROM $m', { m: { identifier: 'm; DROP MEASUREMENT m' } }),
      [],
    );
    assert.deepEqual(await rows('places', 'SELECT count(v) FROM m'), [[0, 3]]);
  });

  it('SHOW TAG VALUES chooses among the listed values by a condition on `value`', async () => {
    // Rows and results from the server test suite of 1.8, where `value` is also a numeric field.
    await write('listed', [
      'cpu,host=server01 value=100 1',
      'cpu,host=server01,region=uswest value=100 1',
      'cpu,host=server02,region=useast value=100 1',
      'gpu,host=server02,region=useast value=100 1',
      'gpu,host=server03,region=caeast value=100 1',
      'disk,host=server03,region=caeast value=100,load=1 1',
    ]);
    const listed = async (where: string, key = '= host'): Promise<unknown> => {
      const q = `SHOW TAG VALUES WITH KEY ${key} WHERE ${where}`;
      const answer = JSON.parse((await ask('listed', q)).text) as {
        readonly results: readonly {
          readonly error?: string;
          readonly series?: readonly { readonly name: string; readonly values: unknown }[];
        }[];
      };
      const [result] = answer.results;
      return result?.error ?? (result?.series ?? []).map(({ name, values }) => [name, values]);
    };
    assert.deepEqual(await listed("value = 'server03'"), [
      ['disk', [['host', 'server03']]],
      ['gpu', [['host', 'server03']]],
    ]);
    assert.deepEqual(await listed("value = 'no_such_value'"), []);
    assert.deepEqual(await listed('value = 5000'), []);
    assert.deepEqual(await listed('(value =~ /0[13]/) AND region !~ /^ca/ AND time > 0'), [
      ['cpu', [['host', 'server01']]],
    ]);
    assert.deepEqual(await listed("value = 'server03' OR region = 'useast'"), [
      ['cpu', [['host', 'server02']]],
      ['disk', [['host', 'server03']]],
      [
        'gpu',
        [
          ['host', 'server02'],
          ['host', 'server03'],
        ],
      ],
    ]);
    assert.deepEqual(await listed("value =~ /east$/ AND host = 'server02'", 'IN (host, region)'), [
      ['cpu', [['region', 'useast']]],
      ['gpu', [['region', 'useast']]],
    ]);
    assert.equal(
      await listed("value = 'server03' OR load > 3"),
      'datafusion error: Error during planning: conditions on listed values and conditions on fields cannot be combined with OR',
    );
    assert.deepEqual(await listed("value = 'server03' AND load > 0"), [
      ['disk', [['host', 'server03']]],
    ]);
    // The condition refers to the tag of that name.
    await write('listed', ['tagged,host=x,value=1 v=1 1', 'tagged,host=y,value=2 v=1 1']);
    assert.deepEqual(await listed("value = '2'"), [['tagged', [['host', 'y']]]]);
  });

  it('answers true and false for the least and greatest of booleans in buckets', async () => {
    await write('flags', ['m,h=a b=true 1', 'm,h=b b=false 2', 'm,h=a b=true 130000000000']);
    const q = 'SELECT min(b), max(b) FROM m WHERE time < 3m GROUP BY time(1m)';
    assert.deepEqual(await rows('flags', `${q} fill(none)`), [
      [0, false, true],
      [120, true, true],
    ]);
    assert.deepEqual(await rows('flags', `${q}, h`), [
      [0, true, true],
      [60, null, null],
      [120, true, true],
      [0, false, false],
      [60, null, null],
      [120, null, null],
    ]);
  });

  it('takes a number that ends with its point', async () => {
    await write('points', ['m v=100 1', 'm v=99 2']);
    assert.deepEqual(await rows('points', 'SELECT v FROM m WHERE v >= 100.'), [[0, 100]]);
  });

  it('writes to and reads from the default retention policy', async () => {
    const nowSec = Math.floor(Date.now() / 1000);
    assert.deepEqual(await rows('', 'CREATE DATABASE rp'), []);
    const make = 'CREATE RETENTION POLICY days ON rp DURATION 2d REPLICATION 1 DEFAULT';
    assert.deepEqual(await rows('rp', make), []);
    const isDefault = async () =>
      ((await rows('rp', 'SHOW RETENTION POLICIES')) as unknown[][]).map((row) => [row[0], row[4]]);
    assert.deepEqual(await isDefault(), [
      ['autogen', false],
      ['days', true],
    ]);
    await write('rp', [`m v=1 ${nowSec}`], '&precision=s');
    await write('rp', [`m v=2 ${nowSec}`], '&precision=s&rp=autogen');
    assert.deepEqual(await rows('rp', 'SELECT v FROM m'), [[nowSec, 1]]);
    assert.deepEqual(await rows('rp', 'SELECT v FROM days.m'), [[nowSec, 1]]);
    assert.deepEqual(await rows('rp', 'SELECT v FROM rp..m'), [[nowSec, 1]]);
    assert.deepEqual(await rows('rp', 'SELECT v FROM autogen.m'), [[nowSec, 2]]);
    assert.deepEqual(await rows('rp', 'SELECT v INTO copy FROM autogen.m'), [[0, 1]]);
    assert.deepEqual(await rows('rp', 'SELECT v FROM days.copy'), [[nowSec, 2]]);

    await process.kill();
    server = await ServerInProcess.start({ dataDir });
    assert.deepEqual(await rows('rp', 'SELECT v FROM m'), [[nowSec, 1]]);
    assert.deepEqual(await rows('rp', 'ALTER RETENTION POLICY autogen ON rp DEFAULT'), []);
    assert.deepEqual(await rows('rp', 'SELECT v FROM m'), [[nowSec, 2]]);
    assert.deepEqual(await rows('rp', 'ALTER RETENTION POLICY days ON rp DEFAULT'), []);
    assert.deepEqual(await rows('rp', 'DROP RETENTION POLICY days ON rp'), []);
    assert.deepEqual(await isDefault(), [['autogen', true]]);
    assert.deepEqual(await rows('rp', 'SELECT v FROM m'), [[nowSec, 2]]);
  });

  it('makes the named policy of a new database its default', async () => {
    await rows('', 'CREATE DATABASE named WITH DURATION 5d REPLICATION 1 NAME "five"');
    const nowSec = Math.floor(Date.now() / 1000);
    await write('named', [`m v=1 ${nowSec}`], '&precision=s');
    assert.deepEqual(await rows('named', 'SELECT v FROM five.m'), [[nowSec, 1]]);
    assert.deepEqual(await rows('named', 'SELECT v FROM autogen.m'), []);
  });

  it('lists nothing that was deleted', async () => {
    await write('gone', [
      'm,h=a v=1 1000000000',
      'm,h=b v=2 2000000000',
      'n,h=c v=3 1000000000',
      'n,h=d v=4 2000000000',
    ]);
    assert.deepEqual(await rows('gone', "DROP SERIES FROM m WHERE h = 'a'"), []);
    assert.deepEqual(await rows('gone', 'SHOW SERIES'), [['m,h=b'], ['n,h=c'], ['n,h=d']]);
    assert.deepEqual(await rows('gone', 'SHOW TAG VALUES FROM m WITH KEY = h'), [['h', 'b']]);
    assert.deepEqual(await rows('gone', 'DELETE FROM n WHERE time < 2s'), []);
    assert.deepEqual(await rows('gone', 'SHOW SERIES'), [['m,h=b'], ['n,h=d']]);
    assert.deepEqual(await rows('gone', 'SHOW SERIES EXACT CARDINALITY'), [[1], [1]]);
    assert.deepEqual(await rows('gone', 'DROP SERIES FROM m'), []);
    assert.deepEqual(await rows('gone', 'SHOW MEASUREMENTS'), [['n']]);
    assert.deepEqual(await rows('gone', 'SHOW FIELD KEYS'), [['v', 'float']]);
    assert.deepEqual(await rows('gone', 'SHOW TAG KEYS FROM m'), []);
    await write('gone', ['m,h=e v=5 3000000000']);
    assert.deepEqual(await rows('gone', 'SHOW SERIES FROM m'), [['m,h=e']]);
    assert.deepEqual(await rows('gone', 'SHOW MEASUREMENTS'), [['m'], ['n']]);
  });

  it('lists no series that has left the retention period', async () => {
    await rows('', 'CREATE DATABASE old WITH DURATION 2h');
    const nowSec = Math.floor(Date.now() / 1000);
    await write(
      'old',
      [`m,h=new v=1 ${nowSec}`, `m,h=old v=1 ${nowSec - 5 * 3600}`],
      '&precision=s',
    );
    assert.deepEqual(await rows('old', 'SHOW TAG VALUES WITH KEY = h'), [['h', 'new']]);
    assert.deepEqual(await rows('old', 'SHOW SERIES'), [['m,h=new']]);
  });

  it('does not read again what the statement itself writes', async () => {
    const lines = Array.from({ length: 12_000 }, (_, i) => `m v=1i ${i}`);
    await write('self', lines, '&precision=s');
    const written = await rows('self', 'SELECT v + 1 AS v INTO m FROM m GROUP BY *');
    assert.deepEqual(written, [[0, 12_000]]);
    assert.deepEqual(await rows('self', 'SELECT sum(v), count(v) FROM m'), [[0, 24_000, 12_000]]);
  });

  it('tells which rows of SELECT INTO could not be written', async () => {
    await write('refused', ['m,h=a v=1 1', 't v="text" 1']);
    assert.match(
      String(await rows('refused', 'SELECT v INTO t FROM m')),
      /^partial write: .* dropped=1$/s,
    );
  });

  it('needs no body behind the content type of one', async () => {
    await write('empty', ['m v=1 1000000000']);
    for (const type of ['application/json', 'text/plain', 'application/x-www-form-urlencoded']) {
      const { status, text } = await ask('empty', 'SELECT v FROM m', {}, { 'content-type': type });
      assert.equal(status, 200, text);
      assert.match(text, /"values":\[\["1970-01-01T00:00:01Z",1\]\]/);
    }
  });

  it('gives points of top and bottom that have one time best first', async () => {
    await write('ties', [
      'm,host=a,service=redis v=1 1000000000',
      'm,host=b,service=redis v=1.5 1000000000',
      'm,host=b,service=mysql v=2 1000000000',
      'm,host=c,service=mysql v=9 2000000000',
    ]);
    assert.deepEqual(await rows('ties', 'SELECT top(v, host, service, 4) FROM m'), [
      [1, 2, 'b', 'mysql'],
      [1, 1.5, 'b', 'redis'],
      [1, 1, 'a', 'redis'],
      [2, 9, 'c', 'mysql'],
    ]);
    assert.deepEqual(await rows('ties', 'SELECT bottom(v, 3) FROM m'), [
      [1, 1],
      [1, 1.5],
      [1, 2],
    ]);
  });

  it('writes the tags of top and bottom as tags', async () => {
    await write('toptags', ['m,host=a v=1 1000000000', 'm,host=b v=3 2000000000']);
    assert.deepEqual(
      await rows('toptags', 'SELECT top(v, host, 2) AS best, host AS h INTO o FROM m'),
      [[0, 2]],
    );
    assert.match(
      (await ask('toptags', 'SELECT * FROM o GROUP BY *')).text,
      /"tags":\{"host":"a"\},"columns":\["time","best","h"\],"values":\[\["1970-01-01T00:00:01Z",1,"a"\]\]/,
    );
  });

  it('leaves a database as it is when it is created again with another policy', async () => {
    const create = (options: string) => rows('', `CREATE DATABASE again${options}`);
    const conflict = 'retention policy conflicts with an existing policy';
    assert.deepEqual(await create(' WITH DURATION 48h NAME two'), []);
    assert.deepEqual(await create(' WITH DURATION 48h NAME two'), []);
    assert.deepEqual(await create(''), []);
    assert.equal(await create(' WITH DURATION 24h NAME two'), conflict);
    assert.equal(await create(' WITH DURATION 48h'), conflict);
    assert.equal(await create(' WITH NAME three'), conflict);
    assert.deepEqual(await rows('', 'SHOW RETENTION POLICIES ON again'), [
      ['autogen', '0s', '168h0m0s', 1, false],
      ['two', '48h0m0s', '24h0m0s', 1, true],
    ]);
  });

  it('lists policies as they were made, with the shard durations that they were given', async () => {
    const ok = async (q: string) => assert.deepEqual(await rows('', q), [], q);
    await ok('CREATE DATABASE cuts WITH SHARD DURATION 3h');
    await ok('CREATE RETENTION POLICY z ON cuts DURATION 7d REPLICATION 1 SHARD DURATION 1h');
    await ok('CREATE RETENTION POLICY a ON cuts DURATION 1d REPLICATION 1 SHARD DURATION 10m');
    await ok('ALTER RETENTION POLICY z ON cuts DURATION 4d SHARD DURATION 2h');
    const listed = [
      ['autogen', '0s', '3h0m0s', 1, true],
      ['z', '96h0m0s', '2h0m0s', 1, false],
      ['a', '24h0m0s', '1h0m0s', 1, false],
    ];
    assert.deepEqual(await rows('', 'SHOW RETENTION POLICIES ON cuts'), listed);
    const tooLong = 'retention policy duration must be greater than the shard duration';
    for (const q of [
      'CREATE RETENTION POLICY b ON cuts DURATION 1d REPLICATION 1 SHARD DURATION 2d',
      'ALTER RETENTION POLICY a ON cuts SHARD DURATION 2d',
      'ALTER RETENTION POLICY z ON cuts DURATION 1h',
    ])
      assert.equal(await rows('', q), tooLong, q);
    assert.match(
      String(await rows('', 'CREATE RETENTION POLICY b ON cuts DURATION 1d REPLICATION 0')),
      /invalid REPLICATION option, expected integer/,
    );
    assert.deepEqual(await rows('', 'SHOW RETENTION POLICIES ON cuts'), listed);
    await server.stop();
    server = await ServerInProcess.start({ dataDir });
    assert.deepEqual(await rows('', 'SHOW RETENTION POLICIES ON cuts'), listed);
  });

  it('counts series without their rows, and says so', async () => {
    await write('card', ['m,host=a v=1 1000000000']);
    const of = (what: string) => rows('card', `SHOW ${what} WHERE time > 0`);
    const refused = (what: string) =>
      `SHOW ${what} CARDINALITY doesn't support time in WHERE clause`;
    assert.equal(await of('SERIES CARDINALITY'), refused('SERIES EXACT'));
    assert.equal(await of('MEASUREMENT EXACT CARDINALITY'), refused('MEASUREMENT EXACT'));
    assert.equal(await of('TAG KEY CARDINALITY'), refused('TAG KEY EXACT'));
    assert.equal(await of('FIELD KEY CARDINALITY'), refused('FIELD KEY'));
    assert.deepEqual(await rows('card', 'SHOW MEASUREMENT CARDINALITY FROM /nope/'), []);
    assert.deepEqual(await rows('card', 'SHOW MEASUREMENT CARDINALITY'), [[1]]);
  });

  it('reads ORDER BY in SHOW as version 1 does', async () => {
    await write('ordered', ['m,h=a v=1 1', 'm,h=b v=1 1']);
    assert.deepEqual(await rows('ordered', 'SHOW SERIES FROM m ORDER BY ASC LIMIT 1'), [['m,h=a']]);
  });

  it('runs functions of rows backward with ORDER BY time DESC, the native endpoint forward', async () => {
    await write('back', ['m v=1 1000000000', 'm v=4 2000000000', 'm v=9 3000000000']);
    const q = 'SELECT difference(v) FROM m ORDER BY time DESC';
    assert.deepEqual(await rows('back', q), [
      [2, -5],
      [1, -3],
    ]);
    const native = await server.http.send(
      `/api/v3/query_influxql?${new URLSearchParams({ db: 'back', q, format: 'csv' })}`,
    );
    assert.equal(
      native.text,
      'iox::measurement,time,difference\nm,1970-01-01T00:00:03,5.0\nm,1970-01-01T00:00:02,3.0\n',
    );
  });
});
