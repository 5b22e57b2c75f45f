import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { tagSetsOf } from '@plinth/tsdb-model/series/new-series.js';
import { LineProtocolParser } from '../line-protocol-parser.js';
import { type ParseJobOptions, ParserPool } from './parser-pool.js';

const OPTIONS: ParseJobOptions = {
  database: 'db',
  precision: 'second',
  receivedNs: 5_000_000_000n,
  encoding: 'identity',
  maxSizeBytes: 1 << 20,
};

const textOf = (count: number, table = 'm') =>
  Array.from({ length: count }, (_, i) => `${table},h=${i % 7} f=${i}i,s="x${i}" ${i}\nbad`).join(
    '\n',
  );

/** A copy with its own memory, as the HTTP layer passes it. */
const bytesOf = (text: string | Buffer) => Uint8Array.from(Buffer.from(text));

describe('ParserPool', () => {
  it("returns the same result from a worker as from the caller's parser", async () => {
    await using pool = new ParserPool({ workerCount: 1, inlineSizeBytes: 0 });
    const body = bytesOf(textOf(1000));
    const expected = new LineProtocolParser().parse(body.slice(), OPTIONS);
    const result = await pool.parse(body, OPTIONS);
    assert.deepEqual(result.parsed, expected);
    assert.deepEqual(Buffer.from(result.body).toString(), textOf(1000));
    assert.equal(body.length, 0, 'the memory changed hands');
  });

  it('reuses the memory of a result only after its release', async () => {
    await using pool = new ParserPool({ workerCount: 1, inlineSizeBytes: 0 });
    const expected = (count: number) =>
      new LineProtocolParser().parse(bytesOf(textOf(count)), OPTIONS).tables[0]?.times;
    const read = async (count: number) => {
      const { parsed, release } = await pool.parse(bytesOf(textOf(count)), OPTIONS);
      const times = parsed.tables[0]?.times;
      assert.deepEqual(times?.slice(), expected(count));
      return { times, giveBack: release };
    };
    const kept = await read(3000);
    const given = await read(3000);
    given.giveBack();
    const later = await Promise.all([read(2900), read(2800)]);
    assert.equal(given.times?.length, 0, 'its memory went back to the worker');
    assert.deepEqual(kept.times?.slice(), expected(3000));
    for (const { giveBack: release } of later) release();
    await read(3000);
  });

  it('parses small bodies synchronously without a transfer', async () => {
    await using pool = new ParserPool({ inlineSizeBytes: 100 });
    const body = bytesOf('m f=1');
    const result = await pool.parse(body, OPTIONS);
    assert.deepEqual(
      [result.parserId, result.body === body, result.parsed.lineCount],
      [0, true, 1],
    );
  });

  it('reads shared memory in place and returns it', async () => {
    await using pool = new ParserPool({ workerCount: 1, inlineSizeBytes: 0 });
    const text = textOf(100);
    const body = Buffer.from(new SharedArrayBuffer(4096), 8, text.length);
    body.write(text, 'latin1');
    const { parsed, body: read } = await pool.parse(body, OPTIONS);
    assert.deepEqual([parsed.tables[0]?.rowCount, read === body], [100, true]);
    const packed = gzipSync(text);
    const shared = Buffer.from(new SharedArrayBuffer(packed.length));
    shared.set(packed);
    const decoded = await pool.parse(shared, { ...OPTIONS, encoding: 'gzip' });
    assert.equal(Buffer.from(decoded.body).toString(), text);
    assert.deepEqual(shared, packed);
  });

  it('does not transfer the buffer around a body', async () => {
    await using pool = new ParserPool({ workerCount: 1, inlineSizeBytes: 0 });
    const shared = Buffer.from(`xx${textOf(10)}yy`);
    const result = await pool.parse(shared.subarray(2, shared.length - 2), OPTIONS);
    assert.equal(result.parsed.lineCount, 20);
    assert.equal(shared.toString(), `xx${textOf(10)}yy`);
  });

  it('keeps the call order within a worker, compressed or not', async () => {
    await using pool = new ParserPool({ workerCount: 1, inlineSizeBytes: 0 });
    const order: number[] = [];
    const bodies = [gzipSync(textOf(5000)), textOf(1), gzipSync(textOf(10)), textOf(2000)];
    await Promise.all(
      bodies.map(async (body, i) => {
        const encoding = typeof body === 'string' ? 'identity' : 'gzip';
        await pool.parse(bytesOf(body), { ...OPTIONS, encoding });
        order.push(i);
      }),
    );
    assert.deepEqual(order, [0, 1, 2, 3]);
  });

  it('keeps nothing from the warm-up', async () => {
    await using pool = new ParserPool({ workerCount: 1, inlineSizeBytes: 0 });
    const warming = pool.warmUp(new AbortController().signal);
    const beside = await pool.parse(bytesOf('a,host=x a=1i'), OPTIONS);
    await warming;
    const after = await pool.parse(bytesOf('a,host=y a=1i'), OPTIONS);
    assert.deepEqual([beside.parserId, after.parserId], [1, 1]);
    assert.deepEqual(
      [beside, after].map(({ parsed }) =>
        parsed.tables.map(({ newSeries }) => tagSetsOf(newSeries)),
      ),
      [[[{ tagKeys: ['host'], tagValues: ['x'] }]], [[{ tagKeys: ['host'], tagValues: ['y'] }]]],
    );
    assert.equal(after.parsed.tables[0]?.parserTable, 0);
    assert.equal(after.parsed.epoch, beside.parsed.epoch + 1);
  });

  it('numbers series separately in each worker', async () => {
    await using pool = new ParserPool({ workerCount: 2, inlineSizeBytes: 0 });
    const results = await Promise.all(
      ['m,h=a f=1', 'm,h=b f=1'].map((text) => pool.parse(bytesOf(text), OPTIONS)),
    );
    assert.deepEqual(
      results.map(({ parserId: workerId, parsed }) => [
        workerId,
        ...(parsed.tables[0]?.seriesNumbers ?? []),
      ]),
      [
        [1, 0],
        [2, 0],
      ],
    );
  });

  it('decodes several gzip members as one body', async () => {
    await using pool = new ParserPool({ workerCount: 1 });
    const body = Buffer.concat([gzipSync('m f=1 1\nm f'), gzipSync('=2 2\n')]);
    const { parsed } = await pool.parse(bytesOf(body), { ...OPTIONS, encoding: 'gzip' });
    assert.deepEqual([parsed.tables[0]?.rowCount, parsed.refusedCount], [2, 0]);
  });

  it('rejects oversized, corrupt and non-UTF-8 bodies, and continues', async () => {
    await using pool = new ParserPool({ workerCount: 1, inlineSizeBytes: 0 });
    const gzip = { ...OPTIONS, encoding: 'gzip', maxSizeBytes: 1000 } as const;
    const bomb = pool.parse(bytesOf(gzipSync('\n'.repeat(1001))), gzip);
    await assert.rejects(bomb, {
      kind: 'body_too_large',
      message: 'max request size (1000 bytes) exceeded',
    });
    const exact = await pool.parse(bytesOf(gzipSync('\n'.repeat(1000))), gzip);
    assert.equal(exact.body.length, 1000);
    const large = pool.parse(bytesOf('#'.repeat(1001)), { ...OPTIONS, maxSizeBytes: 1000 });
    await assert.rejects(large, { kind: 'body_too_large' });
    await assert.rejects(pool.parse(bytesOf('no gzip'), gzip), { kind: 'gzip_corrupt' });
    await assert.rejects(pool.parse(Uint8Array.of(35, 255), OPTIONS), {
      kind: 'body_not_utf8',
      message: 'body content is not valid utf8: invalid utf-8 sequence of 1 bytes from index 1',
    });
    assert.equal((await pool.parse(bytesOf('m f=1'), OPTIONS)).parsed.lineCount, 1);
  });

  it('rejects bodies above its limit, but never a single one', async () => {
    await using pool = new ParserPool({ workerCount: 1, inlineSizeBytes: 0, maxInFlightBytes: 10 });
    const alone = pool.parse(bytesOf('m f=1 1\nm f=2 2'), OPTIONS);
    await assert.rejects(pool.parse(bytesOf('m f=1'), OPTIONS), { kind: 'buffer_full' });
    assert.equal((await alone).parsed.lineCount, 2);
    assert.equal((await pool.parse(bytesOf('m f=1'), OPTIONS)).parsed.lineCount, 1);
  });

  it('replaces a crashed worker and rejects only its jobs', async () => {
    await using pool = new ParserPool({ workerCount: 1, inlineSizeBytes: 0 });
    const before = await pool.parse(bytesOf('m f=1'), OPTIONS);
    // A precision that the types exclude: simulates a bug in the worker.
    const broken = { ...OPTIONS, precision: 'fortnight' as 'second' };
    await assert.rejects(pool.parse(bytesOf('m f=1'), broken), { name: 'ParserCrashed' });
    const after = await pool.parse(bytesOf('m f=1'), OPTIONS);
    assert.deepEqual([before.parserId, after.parserId], [1, 2]);
    assert.equal(after.parsed.tables[0]?.firstNewSeries, 0);
  });

  it('rejects calls after close, and unfinished jobs', async () => {
    const pool = new ParserPool({ workerCount: 1, inlineSizeBytes: 0 });
    const waiting = assert.rejects(pool.parse(bytesOf(textOf(5000)), OPTIONS), {
      kind: 'shutting_down',
    });
    await pool.close();
    await pool.close();
    await waiting;
    await assert.rejects(pool.parse(bytesOf('m f=1'), OPTIONS), { kind: 'shutting_down' });
  });
});
