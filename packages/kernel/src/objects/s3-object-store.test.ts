// Source: Amazon S3 API reference; docs/adr/0169-s3-client.md.
import assert from 'node:assert/strict';
import { type AddressInfo, createServer } from 'node:net';
import { after, before, beforeEach, describe, it } from 'node:test';
import { crc32c } from '../checksum/crc32c.js';
import { FakeS3 } from '../testing/fake-s3.js';
import { objectStoreConformance } from '../testing/object-store-conformance.js';
import { SeededRandom } from '../testing/seeded-random.js';
import { probeBucket } from './probe-bucket.js';
import { S3ObjectStore, type S3Operation, type S3Options } from './s3-object-store.js';

const SECRET = 'secret-that-no-message-contains';
let fake: FakeS3;
let ended: string[] = [];
const opened: S3ObjectStore[] = [];

function open(options: Partial<S3Options> = {}): S3ObjectStore {
  const store = new S3ObjectStore({
    ...{ bucket: fake.bucket, prefix: 'a/b', endpoint: fake.url, region: 'us-east-1' },
    credentials: { accessKeyId: 'key', secretAccessKey: SECRET },
    ...{ timeoutMs: 10_000, retries: 1 },
    onRequest: (operation: S3Operation, isOk: boolean) => ended.push(`${operation} ${isOk}`),
    ...options,
  });
  opened.push(store);
  return store;
}
const contentOf = (text: string, checksum = crc32c([Buffer.from(text)])) => ({
  sizeBytes: text.length,
  checksum,
  async *read() {
    for (const letter of text) yield Buffer.from(letter);
  },
});

before(async () => {
  fake = await FakeS3.start();
});
beforeEach(() => {
  fake.objects.clear();
  for (const fault of Object.keys(fake.faults)) Reflect.deleteProperty(fake.faults, fault);
  ended = [];
});
after(async () => {
  for (const store of opened) store.close();
  await fake.close();
});

objectStoreConformance('S3ObjectStore', async () => {
  fake.objects.clear();
  return open();
});

describe('S3ObjectStore', () => {
  it('stores objects below its prefix', async () => {
    const store = open();
    await store.put('x', [Buffer.from('1')]);
    assert.deepEqual([...fake.objects.keys()], ['a/b/x']);
    assert.equal(store.root, 's3://plinth/a/b');
    const whole = open({ prefix: '' });
    assert.deepEqual(await whole.list(''), [{ name: 'a/b/x', sizeBytes: 1 }]);
    assert.equal(whole.root, 's3://plinth');
    assert.deepEqual(ended, ['put true', 'list true']);
  });

  it('uploads streams, and accepts an object with the same content', async () => {
    const store = open();
    await store.upload('x', contentOf('hello'));
    assert.equal(fake.objects.get('a/b/x')?.toString(), 'hello');
    await store.upload('x', contentOf('hello'));
    await assert.rejects(store.upload('x', contentOf('other')), { kind: 'object_exists' });
    await assert.rejects(store.upload('x', contentOf('hellO')), { kind: 'object_exists' });
    await assert.rejects(store.upload('y', contentOf('hello', 1)), { kind: 'object_corrupt' });
  });

  it('reports a failure of the content as it is', async () => {
    const failure = new Error('cannot be read');
    const content = {
      ...contentOf('hello'),
      // biome-ignore lint/correctness/useYield: it fails first.
      async *read() {
        throw failure;
      },
    };
    await assert.rejects(open().upload('x', content), failure);
    assert.equal(fake.objects.size, 0);
  });

  it('recognizes its own object after a lost response', async () => {
    fake.faults.lostPuts = 1;
    await open().put('x', [Buffer.from('1')]);
    fake.faults.lostPuts = 1;
    await open().upload('y', contentOf('2'));
    assert.equal(fake.objects.size, 2);
  });

  it('reports a store that is unavailable as an outage', async () => {
    const store = open();
    fake.faults.refusal = { status: 503, code: 'SlowDown' };
    const outage = { kind: 'store_outage', message: /does not respond \(503 SlowDown\)/ };
    await assert.rejects(store.put('x', []), outage);
    await assert.rejects(store.upload('x', contentOf('1')), outage);
    await assert.rejects(store.list(''), outage);
    fake.faults.refusal = undefined;
    fake.faults.isSilent = true;
    const silent = { kind: 'store_outage', message: /does not respond/ };
    const impatient = open({ timeoutMs: 50 });
    await assert.rejects(impatient.get('x'), silent);
    await assert.rejects(impatient.upload('x', contentOf('1')), silent);
    assert.deepEqual([...new Set(ended)].sort(), ['get false', 'list false', 'put false']);
    const unreachable = open({ endpoint: 'http://127.0.0.1:1' });
    await assert.rejects(unreachable.get('x'), {
      kind: 'store_outage',
      message: 'the object store does not respond (ECONNREFUSED)',
    });
  });

  it('repeats a request without progress as often as configured', async () => {
    const requestsOf = async (work: Promise<unknown>): Promise<number> => {
      fake.requests.length = 0;
      await assert.rejects(work, { kind: 'store_outage' });
      return fake.requests.length;
    };
    const store = open({ timeoutMs: 50, retries: 2 });
    fake.faults.isSilent = true;
    assert.equal(await requestsOf(store.get('x')), 3);
    assert.equal(await requestsOf(store.put('x', [Buffer.from('1')])), 3);
    assert.equal(await requestsOf(store.upload('x', contentOf('1'))), 3);
    // Its side of the TLS handshake does not follow.
    let connectionCount = 0;
    const silent = createServer(() => connectionCount++);
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { port } = silent.address() as AddressInfo; // it listens on TCP
    const endpoint = `https://127.0.0.1:${port}`;
    const withTls = open({ endpoint, timeoutMs: 50, retries: 2 });
    await assert.rejects(withTls.get('x'), { kind: 'store_outage' });
    assert.equal(connectionCount, 3);
    silent.close();
  });

  it('reports a response that stops in its content', async () => {
    const store = open({ timeoutMs: 50 });
    await store.put('x', [Buffer.from('1')]);
    fake.faults.stallsContent = true;
    await assert.rejects(store.get('x'), { kind: 'store_outage', message: /does not respond/ });
  });

  it('bounds the time without progress, not the duration of a slow upload', async () => {
    const timeoutMs = 1000;
    const piece = Buffer.alloc(1024 * 1024);
    const pieces = Array.from({ length: 24 }, () => piece);
    fake.faults.pieceDelayMs = 8;
    fake.requests.length = 0;
    const startMs = performance.now();
    await open({ timeoutMs }).upload('x', {
      sizeBytes: pieces.length * piece.byteLength,
      checksum: crc32c(pieces),
      async *read() {
        yield* pieces;
      },
    });
    assert.ok(performance.now() - startMs > timeoutMs, 'the upload is slow');
    assert.deepEqual(fake.requests, ['PUT a/b/x']);
  });

  it('reports a request that the store refuses, without the secret', async () => {
    fake.faults.refusal = { status: 403, code: 'SignatureDoesNotMatch' };
    await assert.rejects(open().put('x', []), (error: Error) => {
      assert.equal(Reflect.get(error, 'kind'), 'store_refused');
      assert.match(error.message, /rejected the request: 403 SignatureDoesNotMatch: test/);
      assert.ok(!JSON.stringify([error.message, error.cause]).includes(SECRET));
      return true;
    });
    fake.faults.refusal = { status: 404, code: 'InvalidAccessKeyId' }; // as versitygw responds
    await assert.rejects(open().get('x'), { kind: 'store_refused' });
    fake.faults.refusal = undefined;
    await assert.rejects(open({ bucket: 'none' }).get('x'), {
      kind: 'store_refused',
      message: /404 NoSuchBucket/,
    });
  });

  it('aborts requests when it is closed', async () => {
    fake.faults.isSilent = true;
    const store = open({ timeoutMs: 60_000 });
    const reading = store.get('x');
    while (!fake.requests.includes('GET a/b/x')) await new Promise((r) => setImmediate(r));
    store.close();
    await assert.rejects(reading, { kind: 'store_outage' });
    await assert.rejects(store.get('x'), { kind: 'store_outage' });
  });
});

describe('probeBucket', () => {
  const owner = { clusterUuid: 'c1', folderId: 'f1' };
  const probe = (given = owner) =>
    probeBucket(open(), { owner: given, random: new SeededRandom(1) });

  it('accepts a store and records its owner', async () => {
    assert.deepEqual(await probe(), { warnings: [] });
    assert.deepEqual([...fake.objects.keys()], ['a/b/cluster.json'], 'no probe is left');
    assert.deepEqual(JSON.parse(String(fake.objects.get('a/b/cluster.json'))), {
      ...{ format: 1, cluster_uuid: 'c1', folder_id: 'f1' },
    });
    await probe();
  });

  it('refuses a store that ignores create-only writes', async () => {
    fake.faults.ignoresConditions = true;
    const message = /8 of 8 concurrent requests created the same object, but only one may/;
    await assert.rejects(probe(), { kind: 'store_unusable', message });
    assert.equal(fake.objects.size, 0);
  });

  it('refuses a store whose lists are late', async () => {
    fake.faults.listsNothing = true;
    await assert.rejects(probe(), { kind: 'store_unusable', message: /is not listed at once/ });
  });

  it('refuses the bucket of another server, and of another copy of its folder', async () => {
    await probe();
    const message = /s3:\/\/plinth\/a\/b\/cluster\.json names another server or data folder; use/;
    for (const other of [
      { ...owner, clusterUuid: 'c2' },
      { ...owner, folderId: 'f2' },
    ])
      await assert.rejects(probe(other), { kind: 'store_unusable', message });
    fake.objects.set('a/b/cluster.json', Buffer.from('<html>'));
    await assert.rejects(probe(), { kind: 'store_unusable', message });
  });

  it('warns of a store that does not verify checksums', async () => {
    fake.faults.ignoresChecksums = true;
    const { warnings } = await probe();
    assert.match(warnings.join(), /does not verify checksums/);
    assert.equal(fake.objects.size, 1);
  });

  it('reports an outage as such', async () => {
    fake.faults.refusal = { status: 500, code: 'InternalError' };
    await assert.rejects(probe(), { kind: 'store_outage' });
  });
});
