import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Closers } from './closers.js';

it('closes all parts in reverse order, and reports failures at the end', async () => {
  const closers = new Closers();
  const closed: string[] = [];
  closers.add(() => void closed.push('first'));
  closers.add(() => {
    throw new Error('second');
  });
  closers.add(async () => void closed.push('third'));
  await assert.rejects(closers.close(), AggregateError);
  assert.deepEqual(closed, ['third', 'first']);
  await closers.close();
});
