import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import { streamOf } from './stream-of.js';

async function open(pieces: readonly (string | Error)[]) {
  const seen = { count: 0, isClosed: false };
  async function* produce(): AsyncGenerator<Buffer, void, undefined> {
    try {
      for (const piece of pieces) {
        if (piece instanceof Error) throw piece;
        seen.count++;
        yield Buffer.from(piece);
      }
    } finally {
      seen.isClosed = true;
    }
  }
  const rest = produce();
  const first = await rest.next();
  return { stream: streamOf(first.value ?? Buffer.alloc(0), rest), seen };
}

describe('streamOf', () => {
  it('gives all pieces in order', async () => {
    const { stream, seen } = await open(['a', 'b', 'c']);
    assert.equal(Buffer.concat(await stream.toArray()).toString(), 'abc');
    assert.ok(seen.isClosed);
  });

  it('closes the source when the client goes away before it has taken anything', async () => {
    const { stream, seen } = await open(['a', 'b']);
    stream.destroy();
    await once(stream, 'close');
    assert.deepEqual(seen, { count: 1, isClosed: true });
  });

  it('fails, and does not end, when the source fails', async () => {
    const { stream } = await open(['a', new Error('division by zero')]);
    await assert.rejects(stream.toArray(), /division by zero/);
  });

  it('asks for no more than the client takes', async () => {
    const piece = 'x'.repeat(64 * 1024);
    const { stream, seen } = await open(new Array<string>(100).fill(piece));
    stream.read(1);
    await new Promise(setImmediate);
    assert.ok(seen.count < 5, `${seen.count} pieces were made`);
    stream.destroy();
  });
});
