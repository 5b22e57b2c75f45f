// Source: docs/LIVE-UPDATES.md.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { LiveStream, MAX_WAITING_BYTES } from './live-stream.js';

const streamOf = (): LiveStream =>
  new LiveStream(
    () => true,
    () => undefined,
  );

it('accepts a piece of any size into an empty buffer, and refuses what does not fit later', async () => {
  const stream = streamOf();
  const big = Buffer.alloc(MAX_WAITING_BYTES + 1, 'a');
  assert.equal(stream.push(big), true);
  assert.equal(stream.push(Buffer.from('b')), false);
  const pieces = stream.pieces();
  const first = await pieces.next();
  assert.ok(first.done !== true && first.value.equals(big));
  // The transport has the piece, but the client has not read it.
  assert.equal(stream.push(Buffer.from('c')), false);
  const second = pieces.next();
  assert.equal(stream.push(big), true);
  assert.equal((await second).value?.length, big.length);
});

it('counts as taken when all was read or the client has disconnected', async () => {
  const read = streamOf();
  read.push(Buffer.from('a'));
  read.end();
  assert.equal(read.isTaken, false);
  const pieces = read.pieces();
  await pieces.next();
  assert.equal(read.isTaken, false);
  await pieces.next();
  assert.equal(read.isTaken, true);
  const left = streamOf();
  left.push(Buffer.from('a'));
  const others = left.pieces();
  await others.next();
  await others.return();
  assert.equal(left.isTaken, true);
});

it('sends nothing more after access ends', async () => {
  let isLetIn = true;
  const stream = new LiveStream(
    () => isLetIn,
    () => undefined,
  );
  const pieces = stream.pieces();
  stream.push(Buffer.from('a'));
  assert.equal((await pieces.next()).value?.toString(), 'a');
  const next = pieces.next();
  isLetIn = false;
  stream.push(Buffer.from('b'));
  assert.deepEqual(await next, { done: true, value: undefined });
  assert.equal(stream.isTaken, true);
});
