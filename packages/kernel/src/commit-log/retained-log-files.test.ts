import assert from 'node:assert/strict';
import { it } from 'node:test';
import { SeededRandom } from '../testing/seeded-random.js';
import { SimFileSystem } from '../testing/sim-file-system.js';
import { logFileName } from './log-format.js';
import { RetainedLogFiles } from './retained-log-files.js';

const SIZE = 100;

async function filesOf(
  maxBytes: number,
  diskSpace: { obstacle: undefined | object } = { obstacle: undefined },
) {
  const fileSystem = new SimFileSystem(new SeededRandom(1));
  await fileSystem.makeDirectory('/log');
  const options = { folder: '/retained', maxBytes };
  // Only the obstacle is read.
  const open = () => new RetainedLogFiles(fileSystem, options, diskSpace as never);
  const retained = open();
  await retained.start();
  return {
    open,
    retained,
    fileSystem,
    async write(file: number): Promise<string> {
      const path = `/log/${logFileName(file)}`;
      const handle = await fileSystem.open(path, 'wx');
      await handle.write([new Uint8Array(SIZE)], 0);
      await handle.close();
      return path;
    },
  };
}

it('keeps the newest files up to the limit, and always the newest', async () => {
  const { retained, write, open, fileSystem } = await filesOf(2 * SIZE);
  for (let file = 1; file <= 4; file++) await retained.take(await write(file), file);
  assert.deepEqual(await retained.numbers(), [3, 4]);
  assert.deepEqual(await fileSystem.list('/log'), []);
  assert.deepEqual(await open().numbers(), [3, 4], 'also after a restart');
  const few = await filesOf(1);
  for (let file = 1; file <= 2; file++) await few.retained.take(await few.write(file), file);
  assert.deepEqual(await few.retained.numbers(), [2]);
});

it('keeps nothing without a limit or on a full disk', async () => {
  const diskSpace: { obstacle: undefined | object } = { obstacle: undefined };
  const { retained, write, fileSystem } = await filesOf(10 * SIZE, diskSpace);
  await retained.take(await write(1), 1);
  diskSpace.obstacle = new Error('full');
  await retained.take(await write(2), 2);
  assert.deepEqual(await retained.numbers(), []);
  assert.deepEqual(await fileSystem.list('/log'), []);
  const none = await filesOf(0);
  await none.retained.take(await none.write(1), 1);
  assert.deepEqual(await none.retained.numbers(), []);
});

it('does not keep files whose records were deleted', async () => {
  const { retained, write } = await filesOf(10 * SIZE);
  await retained.take(await write(1), 1);
  const path = await write(2);
  await retained.clear(2);
  assert.deepEqual(await retained.numbers(), []);
  await retained.take(path, 2);
  await retained.take(await write(3), 3);
  assert.deepEqual(await retained.numbers(), [3]);
});

it('does not keep a file that a deletion clears while it is moved', async () => {
  const { retained, write, fileSystem } = await filesOf(10 * SIZE);
  await retained.take(await write(1), 1);
  const path = await write(2);
  const { rename } = fileSystem;
  fileSystem.rename = async (from, to) => {
    await retained.clear(2);
    await rename.call(fileSystem, from, to);
  };
  await retained.take(path, 2);
  assert.deepEqual(await retained.numbers(), []);
  assert.deepEqual(await fileSystem.list('/retained'), ['retain']);
});

it('keeps files only between start and stop, also after a restart', async () => {
  const { retained, write, open, fileSystem } = await filesOf(10 * SIZE);
  await retained.take(await write(1), 1);
  const restarted = open();
  await restarted.take(await write(2), 2);
  assert.deepEqual(await restarted.numbers(), [1, 2]);
  await restarted.stop();
  assert.deepEqual(await fileSystem.list('/retained'), []);
  for (const each of [restarted, open()]) {
    await each.take(await write(3), 3);
    assert.deepEqual(await each.numbers(), []);
    assert.deepEqual(await fileSystem.list('/log'), []);
  }
});

it('leaves no earlier file when it does not keep one', async () => {
  const { retained, write, open, fileSystem } = await filesOf(10 * SIZE);
  await retained.take(await write(1), 1);
  await fileSystem.remove('/retained/retain'); // as after a crash during `stop`
  const restarted = open();
  assert.deepEqual(await restarted.numbers(), [1]);
  await restarted.take(await write(2), 2);
  assert.deepEqual(await restarted.numbers(), []);
});

it('does not keep a file when it is stopped while the file is moved', async () => {
  const { retained, write, fileSystem } = await filesOf(10 * SIZE);
  const path = await write(1);
  const { rename } = fileSystem;
  fileSystem.rename = async (from, to) => {
    await retained.stop();
    await rename.call(fileSystem, from, to);
  };
  await retained.take(path, 1);
  assert.deepEqual(await retained.numbers(), []);
});

it('deletes the oldest files first, and reads the folder once', async () => {
  const { retained, write, open, fileSystem } = await filesOf(10 * SIZE);
  for (let file = 1; file <= 4; file++) await retained.take(await write(file), file);
  const again = open();
  const removed: string[] = [];
  const { remove } = fileSystem;
  fileSystem.remove = async (path) => {
    removed.push(path);
    await remove.call(fileSystem, path);
  };
  await Promise.all([again.numbers(), again.take(await write(5), 5), again.clear(4)]);
  assert.deepEqual(
    removed,
    [1, 2, 3, 4].map((file) => `/retained/${logFileName(file)}`),
  );
  assert.deepEqual(await again.numbers(), [5]);
});
