import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Worker } from 'node:worker_threads';
import { SystemClock } from '../../clock/system-clock.js';
import { GroupCommit } from '../group-commit.js';
import { WorkerChannel } from './worker-channel.js';

it('rejects all pending and later requests when the thread fails', async () => {
  const settings = { path: ':memory:', isChecked: false, maxStatementCount: 10, maxRowCount: 10 };
  const channel = await WorkerChannel.open(settings, 10, { filesReady: Promise.resolve() });
  const limits = { maxGroupCount: 9, maxGroupMs: 9, maxWaitingCount: 9, maxTransactionMs: 9 };
  const groups = new GroupCommit(channel, new SystemClock(), limits);
  const turn = await groups.enter();
  const waiting = [groups.enter(), groups.enter()];
  // An unknown command throws in the thread, like a bug would.
  channel.send({ op: 'none' } as never);
  const unusable = { kind: 'store_unusable' };
  await assert.rejects(turn.query('select 1', []), unusable);
  await assert.rejects(turn.rollback(), unusable);
  for (const turnOfOther of waiting) await assert.rejects(turnOfOther, unusable);
  await assert.rejects(groups.enter(), unusable);
  await assert.rejects(channel.query('reader', 'select 1', []), unusable);
  await channel.close();
});

it('rejects requests after the close, which would end the process in the driver', async () => {
  const settings = { path: ':memory:', isChecked: false, maxStatementCount: 10, maxRowCount: 10 };
  const channel = await WorkerChannel.open(settings, 10, { filesReady: Promise.resolve() });
  const closing = channel.close();
  await assert.rejects(channel.query('writer', 'select 1', []), { kind: 'store_unusable' });
  await closing;
});

it('opens in a thread that was started earlier', async () => {
  const thread = new Worker(new URL('./sqlite-worker.js', import.meta.url));
  const settings = { path: ':memory:', isChecked: false, maxStatementCount: 10, maxRowCount: 10 };
  const around = { filesReady: Promise.resolve(), thread };
  const channel = await WorkerChannel.open(settings, 10, around);
  const response = await channel.query('reader', 'select 1', []);
  assert.deepEqual(response?.rows, [[1]]);
  await channel.close();
  assert.equal(thread.threadId, -1);
});

it('rejects when a thread that was started earlier fails or exits', async () => {
  const settings = { path: ':memory:', isChecked: false, maxStatementCount: 10, maxRowCount: 10 };
  for (const code of ['process.exit(0)', 'throw new Error("broken")']) {
    const thread = new Worker(code, { eval: true });
    // Like the starter of the thread, which cannot report the error yet.
    thread.on('error', () => undefined);
    const around = { filesReady: Promise.resolve(), thread };
    await assert.rejects(WorkerChannel.open(settings, 10, around), { kind: 'store_unusable' });
  }
  const failed = new Worker('throw new Error("broken")', { eval: true });
  const opening = new Promise<WorkerChannel>((resolve, reject) => {
    // The failure has been reported, but not the exit.
    failed.once('error', () => {
      const around = { filesReady: Promise.resolve(), thread: failed };
      WorkerChannel.open(settings, 10, around).then(resolve, reject);
    });
  });
  await assert.rejects(opening, { kind: 'store_unusable' });
});

it('never terminates a thread, which may be running native code', async (t) => {
  const terminate = t.mock.method(Worker.prototype, 'terminate');
  const settings = { path: ':memory:', isChecked: false, maxStatementCount: 10, maxRowCount: 10 };
  const start = () => new Worker(new URL('./sqlite-worker.js', import.meta.url));

  const opened = start();
  const channel = await WorkerChannel.open(settings, 10, {
    filesReady: Promise.resolve(),
    thread: opened,
  });
  await channel.close();
  assert.equal(opened.threadId, -1);
  await channel.close();

  const broken = start();
  const lost = await WorkerChannel.open(settings, 10, {
    filesReady: Promise.resolve(),
    thread: broken,
  });
  lost.break('a reply could not be deserialized');
  await lost.close();
  assert.equal(broken.threadId, -1);

  const unneeded = start();
  const filesReady = Promise.reject(new Error('the folder cannot be read'));
  await assert.rejects(
    WorkerChannel.open(settings, 10, { filesReady, thread: unneeded }),
    /the folder cannot be read/,
  );
  assert.equal(unneeded.threadId, -1);
  assert.equal(terminate.mock.callCount(), 0);
});
