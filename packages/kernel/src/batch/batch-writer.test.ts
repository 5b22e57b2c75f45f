import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BatchWriter } from './batch-writer.js';

describe('A batch writer', () => {
  const batches: (readonly number[])[] = [];
  const open = (retriesAlone: boolean): BatchWriter<number, string> => {
    batches.length = 0;
    return new BatchWriter<number, string>({
      maxCount: 3,
      retriesAlone,
      write: async (batch) => {
        batches.push(batch);
        await new Promise((resolve) => setImmediate(resolve));
        if (batch.includes(13)) throw new Error('unlucky');
        return batch.map((item) => `written ${item}`);
      },
    });
  };
  const outcomes = async (writer: BatchWriter<number, string>, items: readonly number[]) => {
    const settled = await Promise.allSettled(items.map((item) => writer.add(item)));
    return settled.map((one) => (one.status === 'fulfilled' ? one.value : String(one.reason)));
  };

  it('writes concurrent items in order, in batches of bounded size', async () => {
    const writer = open(false);
    const items = [1, 2, 3, 4];
    assert.deepEqual(
      await outcomes(writer, items),
      items.map((item) => `written ${item}`),
    );
    assert.deepEqual(batches, [[1, 2, 3], [4]]);
  });

  it('collects items while a batch is being written', async () => {
    const writer = open(false);
    const first = writer.add(1);
    for (let turn = 0; turn < 10 && batches.length === 0; turn++) await Promise.resolve();
    const others = [writer.add(2), writer.add(3)];
    assert.equal(writer.waitingCount, 2);
    assert.equal(await first, 'written 1');
    await Promise.all(others);
    assert.deepEqual(batches, [[1], [2, 3]]);
    assert.equal(writer.waitingCount, 0);
  });

  it('fails a batch together, or each item separately', async () => {
    const lost = 'Error: unlucky';
    assert.deepEqual(await outcomes(open(false), [1, 13, 2]), [lost, lost, lost]);
    assert.deepEqual(await outcomes(open(true), [1, 13, 2]), ['written 1', lost, 'written 2']);
    assert.deepEqual(batches, [[1, 13, 2], [1], [13], [2]]);
  });

  it('is idle when everything is written, and can write again', async () => {
    const writer = open(false);
    await writer.idle();
    let isWritten = false;
    void writer.add(1).then(() => {
      isWritten = true;
    });
    await writer.idle();
    assert.ok(isWritten);
    assert.equal(await writer.add(2), 'written 2');
  });
});
