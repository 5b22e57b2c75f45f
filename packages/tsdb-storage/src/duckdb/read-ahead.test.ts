import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { readAhead } from './read-ahead.js';

/** A source of numbers that takes event-loop ticks for each and counts them. */
class Source {
  madeCount = 0;
  isStopped = false;
  readonly #turns: number;

  /** @param turns event-loop ticks per number. */
  constructor(turns: number) {
    this.#turns = turns;
  }

  async *numbers(end: number): AsyncGenerator<number, void, undefined> {
    while (this.madeCount < end && !this.isStopped) {
      for (let turn = 0; turn < this.#turns; turn++) await setImmediate();
      yield this.madeCount++;
    }
  }

  read(end: number, maxCount: number): AsyncGenerator<number, void, undefined> {
    const stop = (): void => {
      this.isStopped = true;
    };
    return readAhead(this.numbers(end), { maxCount, stop });
  }
}

const turnsLater = async (count: number): Promise<void> => {
  for (let turn = 0; turn < count; turn++) await setImmediate();
};

describe('reading ahead', () => {
  it('reads the least count ahead for a client that takes only one item', async () => {
    const source = new Source(1);
    const items = readAhead(source.numbers(20), { maxCount: 2, leastCount: 10, stop: () => {} });
    await items.next();
    await turnsLater(40);
    // One item was taken, and the others were read ahead.
    assert.equal(source.madeCount, 11);
  });

  it('yields all items in order', async () => {
    const found: number[] = [];
    const source = new Source(3);
    for await (const item of source.read(500, 16)) found.push(item);
    assert.deepEqual(
      found,
      Array.from({ length: 500 }, (_, index) => index),
    );
    assert.equal(source.isStopped, false, 'a source that ended by itself is not stopped');
  });

  it('reads further ahead if the consumer had to wait', async () => {
    const source = new Source(2);
    const items = source.read(1000, 16);
    for (let i = 0; i < 50; i++) await items.next();
    await turnsLater(100);
    assert.equal(source.madeCount, 50 + 16);
    await items.return();
  });

  it('reads little ahead for slow consumers', async () => {
    const source = new Source(1);
    const items = source.read(1000, 16);
    await items.next();
    for (let i = 1; i < 6; i++) {
      await setTimeout(110);
      await items.next();
    }
    await turnsLater(50);
    assert.ok(source.madeCount <= 6 + 2, String(source.madeCount));
    await items.return();
  });

  it('lets the source end before it ends', async () => {
    const source = new Source(20);
    const items = source.read(1000, 16);
    await items.next();
    await items.next();
    await items.return();
    const { madeCount, isStopped } = source;
    assert.ok(isStopped);
    await turnsLater(100);
    assert.equal(source.madeCount, madeCount);
  });

  it('reports a failure at its position', async () => {
    async function* failing(): AsyncGenerator<number, void, undefined> {
      yield 1;
      yield 2;
      throw new Error('no more');
    }
    const items = readAhead(failing(), { maxCount: 4, stop: () => undefined });
    assert.equal((await items.next()).value, 1);
    assert.equal((await items.next()).value, 2);
    await assert.rejects(items.next(), /no more/);
  });
});
