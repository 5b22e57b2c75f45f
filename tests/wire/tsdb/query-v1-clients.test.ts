// Source: tsdb-http, "v1 query endpoint" (Accept, DEFAULT policies) and query-languages, sections 9.9 and 10.12; bytes and rows from InfluxDB 1.6.7.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type HttpResponse, type OwnServer, ServerInProcess } from '../../harness/index.js';

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
  const response = await server.http.send(`/write?db=${db}${rest}`, { body: lines.join('\n') });
  assert.equal(response.status, 204, response.text);
}

const ask = (
  db: string,
  q: string,
  more: Readonly<Record<string, string>> = {},
  headers: Readonly<Record<string, string>> = {},
): Promise<HttpResponse> =>
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
    const refused = await ask('typed', 'SELECT v FROM m', { params: '{"x":{"nope":"1"}}' });
    assert.equal(refused.status, 400);
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

  it('needs no body behind the content type of one', async () => {
    await write('empty', ['m v=1 1000000000']);
    for (const type of ['application/json', 'text/plain', 'application/x-www-form-urlencoded']) {
      const { status, text } = await ask('empty', 'SELECT v FROM m', {}, { 'content-type': type });
      assert.equal(status, 200, text);
      assert.match(text, /"values":\[\["1970-01-01T00:00:01Z",1\]\]/);
    }
  });

  it('keeps policies in their order, with their shard durations, after a restart', async () => {
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
    await server.stop();
    server = await ServerInProcess.start({ dataDir });
    assert.deepEqual(await rows('', 'SHOW RETENTION POLICIES ON cuts'), listed);
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
