import assert from 'node:assert/strict';
import { after, it } from 'node:test';
import { ChecksumThread } from './checksum-thread.js';
import { crc32c } from './crc32c.js';

const bytesOf = (sizeBytes: number, first: number): Uint8Array<ArrayBuffer> =>
  Uint8Array.from({ length: sizeBytes }, (_, index) => (first + index * 7) & 255);

const thread = new ChecksumThread();
after(() => thread.close());

it('sums short and long pieces as the function does, one upon the other', async () => {
  for (const sizeBytes of [0, 1, 64 * 1024 - 1, 64 * 1024, 300_001]) {
    const first = await thread.sum(bytesOf(sizeBytes, 1), 0);
    assert.equal(first, crc32c([bytesOf(sizeBytes, 1)]), `${sizeBytes} bytes`);
    const both = await thread.sum(bytesOf(100_000, 9), first);
    assert.equal(both, crc32c([bytesOf(sizeBytes, 1), bytesOf(100_000, 9)]));
  }
});

it('answers each of many pieces with its own sum', async () => {
  const firsts = Array.from({ length: 40 }, (_, index) => index);
  const sums = await Promise.all(firsts.map((first) => thread.sum(bytesOf(70_000, first), 0)));
  assert.deepEqual(
    sums,
    firsts.map((first) => crc32c([bytesOf(70_000, first)])),
  );
});

it('lets go of what waits when it is closed, and begins again', async () => {
  const closed = new ChecksumThread();
  const waiting = assert.rejects(closed.sum(bytesOf(70_000, 1), 0), /checksum thread was stopped/);
  await closed.close();
  await waiting;
  assert.equal(await closed.sum(bytesOf(70_000, 1), 0), crc32c([bytesOf(70_000, 1)]));
  await closed.close();
  await closed.close();
});
