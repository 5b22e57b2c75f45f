import assert from 'node:assert/strict';
import { it } from 'node:test';
import { WorkerClient } from './worker-client.js';

/** Doubles numbers; exits on 0 and throws on negative ones. */
const ENTRY = new URL(
  `data:text/javascript,${encodeURIComponent(`
    import { parentPort } from 'node:worker_threads';
    parentPort.on('message', (value) => {
      if (value === 0) process.exit();
      if (value < 0) throw new Error('negative');
      parentPort.postMessage(value * 2);
    });`)}`,
);

const open = () => new WorkerClient<number, number>(ENTRY, { name: 'doubles' });

it('replies in order', async () => {
  const client = open();
  const replies = await Promise.all([1, 2, 3].map((value) => client.request(value)));
  assert.deepEqual(replies, [2, 4, 6]);
  await client.stop(new Error('stopped'));
});

it('rejects what waits when the thread fails, and starts another one', async () => {
  const client = open();
  const failed = [client.request(-1), client.request(1)];
  for (const each of failed) await assert.rejects(each, /negative/);
  await assert.rejects(client.request(0), /the thread doubles exited/);
  assert.equal(await client.request(4), 8);
  await client.stop(new Error('stopped'));
});

it('rejects what waits when it is stopped, and starts again with the next request', async () => {
  const client = open();
  const stopped = client.request(1);
  await Promise.all([client.stop(new Error('stopped')), assert.rejects(stopped, /stopped/)]);
  assert.equal(await client.request(2), 4);
  await client.stop(new Error('stopped'));
  await client.stop(new Error('stopped'));
});
