import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Row } from '../../data/row.js';
import { PackedTexts } from './packed-texts.js';
import { TextThread } from './text-thread.js';

const wanted = {
  kind: 'maps',
  language: undefined,
  rows: [
    new Row({
      ...{ id: 'm1', slug: 'north', rev: 1, columns: {} },
      text: JSON.stringify({ name: 'North', description: 'Cold', extracts: [], locales: {} }),
    }),
  ],
} as const;

it('closes cleanly when the thread responds to abandoned reads', async () => {
  const thread = new TextThread();
  const { names } = await thread.read(wanted);
  assert.equal(new PackedTexts(names).at(0), 'north\n');
  const reads = [1, 2, 3].map(() => thread.read(wanted));
  // The thread responds in the meantime, so its responses are queued when the reads are abandoned.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
  const closed = thread.close();
  for (const read of reads) await assert.rejects(read, /the server is shutting down/);
  await closed;
  await assert.rejects(thread.read(wanted), /the server is shutting down/);
});
