// Source: docs/OPEN-TABLES-BUCKET.md, "When the bucket fails"; the stores are versitygw, moto and s3rver, the readers PyIceberg and ClickHouse's engine (chdb).
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { describe, it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import {
  bucketFlags,
  DatabaseCable,
  type ObjectStoreProcess,
  pythonWith,
  ServerInProcess,
  StartFailed,
  startMoto,
  startS3rver,
  startVersitygw,
  until,
} from '../../harness/index.js';
import { READERS } from './open-tables-packages.js';

const SCRIPT = fileURLToPath(
  new URL('../../../wire/clients/open-tables-readers.py', import.meta.url),
);
const FLAGS = [
  ...['--services', 'tsdb', '--without-auth', '--open-tables-databases', 'home'],
  ...['--open-tables-interval-ms', '100', '--open-tables-flush-age-ms', '100'],
  ...['--object-store-timeout-ms', '500', '--object-store-retries', '0'],
];
/** One client of the bucket with `read`, as on another machine: it has no access to the data folder. */
const READS: readonly (readonly [
  string,
  (context: TestContext) => Promise<ObjectStoreProcess | undefined>,
])[] = [
  ['versitygw', startVersitygw],
  ['moto', startMoto],
];

// biome-ignore lint/suspicious/noExplicitAny: results of readers.
type Json = any;

async function openServer(context: TestContext, store: ObjectStoreProcess) {
  const server = await ServerInProcess.start({ flags: [...FLAGS, ...bucketFlags(store)] });
  context.after(() => server.close());
  const send = async (path: string, body?: string): Promise<string> => {
    const response = await server.http.send(path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { 'content-type': 'application/json' },
      ...(body !== undefined && { body }),
    });
    assert.ok(response.status < 300, `${path}: ${response.status} ${response.text}`);
    return response.text;
  };
  return {
    server,
    send,
    write: (body: string) => send('/api/v3/write_lp?db=home&precision=nanosecond', body),
    publish: async (): Promise<Json> =>
      JSON.parse(await send('/ops/v1/tsdb/open-tables/publish', '{"db":"home"}')).tables[0],
    state: async (): Promise<Json> =>
      JSON.parse(await send('/ops/v1/tsdb/open-tables?db=home')).tables[0],
  };
}

/** Starts the readers; `undefined` if they cannot be installed. */
async function openReader(context: TestContext, address: string, store: ObjectStoreProcess) {
  const python = await pythonWith(READERS, context);
  if (python === undefined) return undefined;
  const child: ChildProcess = spawn(python, [SCRIPT], { stdio: ['pipe', 'pipe', 'inherit'] });
  context.after(() => child.kill());
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream })[
    Symbol.asyncIterator
  ]();
  const bucket = { key: store.key, secret: store.secret };
  return async (what: string): Promise<Json> => {
    const request = { what, address, token: 'none', namespace: 'home', table: 'm', bucket };
    child.stdin?.write(`${JSON.stringify(request)}\n`);
    const { value, done } = await lines.next();
    assert.ok(done !== true, 'the reader has failed; see its message above');
    return JSON.parse(value);
  };
}

describe('published tables in a bucket', { timeout: 300_000 }, () => {
  for (const [name, start] of READS) {
    it(`are read from ${name} by PyIceberg and ClickHouse, also after a deletion and a merge`, async (context) => {
      const store = await start(context);
      if (store === undefined) return;
      context.after(() => store[Symbol.asyncDispose]());
      const { server, send, write, publish } = await openServer(context, store);
      const read = await openReader(context, server.url, store);
      if (read === undefined) return;
      const agree = async (expected: Json[]): Promise<void> => {
        const { location } = await publish();
        assert.match(location, /^s3:\/\/plinth\/open-tables\//);
        const { pyiceberg, clickhouse } = await read('sums');
        assert.deepEqual(pyiceberg, expected);
        assert.deepEqual(clickhouse, expected);
      };
      await write('m,tag=a,Tag=x i=1i,f=0.5,s="one" -5000000000000000001\nm,tag=b i=2i,f=1.5 7');
      await agree(['2', '3', 2, '-5000000000000000001', '7', '1', '2', '1', 'b', 'x']);
      const remove = {
        predicate: 'tag="b"',
        start: '1700-01-01T00:00:00Z',
        stop: '2200-01-01T00:00:00Z',
      };
      await send('/api/v2/delete?org=o&bucket=home', JSON.stringify(remove));
      await agree([
        '1',
        '1',
        0.5,
        '-5000000000000000001',
        '-5000000000000000001',
        '1',
        '1',
        '1',
        'a',
        'x',
      ]);
      for (let i = 2; i < 10; i++) {
        await write(`m,tag=c i=${i}i,f=1 ${i}`);
        await publish();
      }
      await send('/ops/v1/tsdb/storage/compact', '{"db":"home","table":"m"}');
      await agree(['9', '45', 8.5, '-5000000000000000001', '9', '1', '9', '1', 'c', 'x']);
    });
  }

  it('are published after an outage, which delays nothing else', async (context) => {
    const store = (await startVersitygw(NO_SKIP)) ?? (await startMoto(context));
    if (store === undefined) return;
    context.after(() => store[Symbol.asyncDispose]());
    const cable = new DatabaseCable(new URL(store.url));
    await cable.join();
    context.after(() => cable.cut());
    const url = cable.url.replace(/\/$/, '');
    const { server, write, publish, state } = await openServer(context, { ...store, url });
    await write('m i=1i 1');
    assert.equal((await publish()).state, 'published');
    for (const end of ['cut', 'hush'] as const) {
      cable[end]();
      const before = await state();
      await write(`m i=2i ${end === 'cut' ? 2 : 3}`);
      await until(async () => (await state()).state === 'waiting', 'an outage');
      const startMs = performance.now();
      await write('m i=3i 4');
      const rows = await server.http.send(
        '/api/v3/query_sql?db=home&format=csv&q=SELECT%20count(*)%20FROM%20m',
      );
      assert.equal(rows.status, 200);
      assert.ok(performance.now() - startMs < 5000, 'writes and queries are not delayed');
      const waiting = await state();
      assert.match(waiting.reason, /the object store does not respond/);
      assert.equal(waiting.version, before.version);
      if (end === 'cut') await cable.join();
      else cable.thaw();
      const count = Number(rows.text.split('\n')[1]);
      await until(async () => (await state()).row_count === count, 'the rows of the outage');
    }
    assert.ok(server.logged('object store unavailable; publishing is delayed') !== undefined);
    assert.ok(server.logged('object store available again') !== undefined);
    assert.ok(!server.logText.includes(store.secret));
    const settings = await server.http.send('/ops/v1/settings');
    assert.equal(settings.status, 200);
    assert.ok(!settings.text.includes(store.secret));
  });

  it('are refused in a store that overwrites objects', async (context) => {
    const store = await startS3rver(context);
    if (store === undefined) return;
    context.after(() => store[Symbol.asyncDispose]());
    const starting = ServerInProcess.start({ flags: [...FLAGS, ...bucketFlags(store)] });
    await assert.rejects(starting, (error: Error) => {
      assert.ok(error instanceof StartFailed);
      assert.match(
        error.message,
        /object_store\.bucket \(s3:\/\/plinth\): the object store cannot be used: [2-8] of 8 concurrent requests created the same object/,
      );
      assert.ok(!error.message.includes('S3RVER'));
      return true;
    });
  });
});

const NO_SKIP = { skip: () => undefined };
