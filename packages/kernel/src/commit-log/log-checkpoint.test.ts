import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SeededRandom } from '../testing/seeded-random.js';
import { SimFileSystem } from '../testing/sim-file-system.js';
import { type FileCommitLog, openCommitLog } from './file-commit-log.js';
import type { LogCheckpoint, LogCheckpointStore, LogEnd } from './log-checkpoint.js';
import type { LogLoss } from './log-loss.js';
import { checkLog } from './recovery/log-recovery.js';

// Source: docs/formats/commit-log.md, "Log state in the relational store".
const DIRECTORY = '/log';
const NODE_ID = '01890a5d-ac96-774b-bcce-b302099a8057';
const RECORD = 32 + 1; // each payload is a letter

const fileOf = (number: number): string => `${DIRECTORY}/${String(number).padStart(12, '0')}.log`;

/** Works like the tables of the time-series service: noted values are durable. */
class LogCheckpointInMemory implements LogCheckpointStore {
  expected: LogCheckpoint = {
    serverStartNumber: 0,
    newestFile: 0,
    first: undefined,
    end: undefined,
  };
  /** The step at which the process dies. */
  failsAt: 'start' | 'started' | 'stop' | 'stopped' | undefined;

  async storeStart(serverStartNumber: number): Promise<void> {
    this.#failAt('start');
    this.expected = { ...this.expected, serverStartNumber, end: undefined };
    this.#failAt('started');
  }

  async storeStop(end: LogEnd): Promise<void> {
    this.#failAt('stop');
    this.expected = { ...this.expected, end };
    this.#failAt('stopped');
  }

  /** Runs at the end of startup and after each flush. */
  noteFiles(log: FileCommitLog, flushedFile = 0): void {
    this.expected = {
      ...this.expected,
      newestFile: log.newestFile,
      first: log.firstRecordAfter(flushedFile),
    };
  }

  #failAt(place: typeof this.failsAt): void {
    if (this.failsAt === place) throw new Error('killed');
  }
}

interface Folder {
  readonly disk: SimFileSystem;
  readonly store: LogCheckpointInMemory;
}

const newFolder = (): Folder => ({
  disk: new SimFileSystem(new SeededRandom(1)),
  store: new LogCheckpointInMemory(),
});

async function open(
  { disk, store }: Folder,
  losses: LogLoss[] | undefined = undefined,
): Promise<FileCommitLog> {
  const log = await openCommitLog({
    ...{ fileSystem: disk, directory: DIRECTORY, nodeId: NODE_ID, logCheckpoint: store },
    ...{ random: new SeededRandom(7), zeroStepSize: 700, repair: losses !== undefined },
    onLoss: (loss) => losses?.push(loss) ?? assert.fail(`lost ${JSON.stringify(loss)}`),
  });
  store.noteFiles(log);
  return log;
}

async function append(log: FileCommitLog, letters: string): Promise<void> {
  for (const letter of letters) await log.append([Buffer.from(letter)]).durable;
}

/** One server run, which writes each letter as a record. */
async function run(folder: Folder, letters: string, end: 'stop' | 'kill' = 'stop'): Promise<void> {
  const log = await open(folder);
  await append(log, letters);
  if (end === 'stop') await log.close();
  else folder.disk.crash();
}

async function replayed(folder: Folder, losses?: LogLoss[]): Promise<string> {
  const log = await open(folder, losses);
  let letters = '';
  for await (const { payload } of log.replay()) letters += Buffer.from(payload).toString();
  await log.close();
  return letters;
}

async function read(disk: SimFileSystem, path: string): Promise<Uint8Array> {
  const handle = await disk.open(path, 'r');
  const bytes = new Uint8Array(await handle.sizeBytes());
  await handle.read(bytes, 0);
  return bytes;
}

async function replace(disk: SimFileSystem, path: string, bytes: Uint8Array): Promise<void> {
  const handle = await disk.open(path, 'w');
  await handle.write([bytes], 0);
  await handle.sync();
}

async function faultsOf({ disk, store }: Folder): Promise<string[]> {
  const { expected } = store;
  const where = { fileSystem: disk, directory: DIRECTORY, nodeId: NODE_ID, expected };
  const messages: string[] = [];
  for await (const { damage } of checkLog(where))
    if (damage !== undefined) messages.push(damage.message);
  return messages;
}

/**
 * Asserts that the log refuses to open without changing the folder, that `verify` reports it, and that a repair
 * continues with `kept` permanently.
 */
async function refused(folder: Folder, why: RegExp, kept: string): Promise<void> {
  const before = await folder.disk.list(DIRECTORY);
  let message = '';
  await assert.rejects(open(folder), (error: Error) => {
    message = error.message;
    return why.test(message) || assert.fail(message);
  });
  assert.deepEqual(await faultsOf(folder), [message]);
  assert.deepEqual(await folder.disk.list(DIRECTORY), before);
  const losses: LogLoss[] = [];
  assert.equal(await replayed(folder, losses), kept);
  assert.notEqual(losses.length, 0);
  folder.disk.crash();
  assert.equal(await replayed(folder), kept, 'the repair is for good');
}

describe('A log whose store knows it', () => {
  for (const end of ['stop', 'kill'] as const) {
    it(`misses its oldest file (${end})`, async () => {
      const folder = newFolder();
      await run(folder, 'ab');
      await run(folder, 'cd', end);
      await folder.disk.remove(fileOf(1));
      await refused(folder, /000002\.log at offset 0: records missing before this file: 2/, 'cd');
    });
  }

  it('does not miss files that were flushed', async () => {
    const folder = newFolder();
    const log = await open(folder);
    await append(log, 'ab');
    const flushed = await log.rotate();
    await append(log, 'c');
    folder.store.noteFiles(log, flushed);
    await log.removeThrough(flushed);
    await log.close();
    assert.equal(await replayed(folder), 'c');
  });

  it('misses records that were cut off its end after a clean stop', async () => {
    for (const [kept, why] of [
      ['abc', / at offset 163: records missing after the last one: 1;/],
      ['ab', / at offset 130: records missing after the last one: 2;/],
      ['', / at offset 64: records missing after the last one: 4;/],
    ] as const) {
      const folder = newFolder();
      await run(folder, 'abcd');
      const bytes = await read(folder.disk, fileOf(1));
      const size = 64 + kept.length * RECORD;
      await replace(folder.disk, fileOf(1), bytes.subarray(0, size));
      await refused(folder, why, kept);
    }
  });

  it('takes a bad record before its end for damage, also when the mark of the stop is gone', async () => {
    const folder = newFolder();
    await run(folder, 'abc');
    const bytes = await read(folder.disk, fileOf(1));
    await replace(folder.disk, fileOf(1), bytes.subarray(0, bytes.length - 8 - 1));
    await refused(
      folder,
      /at offset 130: invalid record before the end recorded at a clean stop/,
      'ab',
    );
  });

  it('misses what was written after a copy of a file that is put back', async () => {
    const folder = newFolder();
    const log = await open(folder);
    await append(log, 'ab');
    const copy = await read(folder.disk, fileOf(1));
    await append(log, 'cd');
    await log.close();
    await replace(folder.disk, fileOf(1), copy);
    await refused(folder, /records missing after the last one: 2;/, 'ab');
  });

  it('notices that its newest file is another one with as many records', async () => {
    const folder = newFolder();
    await run(folder, 'ab');
    const other = newFolder();
    const log = await openCommitLog({
      ...{ fileSystem: other.disk, directory: DIRECTORY, nodeId: NODE_ID },
      ...{ random: new SeededRandom(8), onLoss: () => assert.fail(), logCheckpoint: other.store },
    });
    await append(log, 'xy');
    await log.close();
    await replace(folder.disk, fileOf(1), await read(other.disk, fileOf(1)));
    await refused(folder, /it is not the file of the last clean shutdown/, 'xy');
  });

  it('finds records behind a mark of a clean stop', async () => {
    const folder = newFolder();
    await run(folder, 'ab');
    const mark = (await read(folder.disk, fileOf(1))).subarray(-8);
    const longer = newFolder();
    await run(longer, 'abcd');
    const bytes = await read(longer.disk, fileOf(1));
    // Both headers were created from the same random numbers, so the mark is valid in both.
    bytes.set(mark, 64 + 2 * RECORD);
    for (const { expected } of [
      longer.store,
      { expected: { ...longer.store.expected, end: undefined } },
    ]) {
      const damaged: Folder = {
        disk: new SimFileSystem(new SeededRandom(1)),
        store: new LogCheckpointInMemory(),
      };
      await damaged.disk.makeDirectory(DIRECTORY);
      await replace(damaged.disk, fileOf(1), bytes.subarray(0, bytes.length - 8));
      damaged.store.expected = expected;
      await refused(damaged, /at offset 130: invalid record before/, 'abd');
    }
  });

  it('finds that the store is a copy of an earlier stop', async () => {
    const folder = newFolder();
    await run(folder, 'a');
    const { expected } = folder.store;
    await run(folder, 'b', 'kill');
    folder.store.expected = expected;
    await refused(folder, /000002\.log at offset 0: it was written after plinth\.db/, 'ab');
  });

  it('finds that the store is a copy that was made before the last stop', async () => {
    const folder = newFolder();
    const log = await open(folder);
    const { expected } = folder.store;
    await append(log, 'ab');
    await log.close();
    folder.store.expected = expected;
    await refused(folder, /000001\.log at offset 0: it was written after plinth\.db/, 'ab');
  });

  it('names a file that was replaced by a directory, and what to do', async () => {
    const folder = newFolder();
    await run(folder, 'ab');
    await folder.disk.remove(fileOf(1));
    await folder.disk.makeDirectory(fileOf(1));
    for (const losses of [undefined, []])
      await assert.rejects(
        open(folder, losses),
        /000001\.log at offset 0: it is a directory.* Move it away/,
      );
  });

  it('takes a log of an earlier release, and one whose store is to be older', async () => {
    for (const serverStartNumber of [0, undefined]) {
      const folder = newFolder();
      if (serverStartNumber === undefined) await run(folder, 'ab');
      else {
        const log = await openCommitLog({
          ...{ fileSystem: folder.disk, directory: DIRECTORY, nodeId: NODE_ID },
          ...{ random: new SeededRandom(7), onLoss: () => assert.fail() },
        });
        await append(log, 'ab');
        await log.close();
      }
      folder.store.expected = {
        serverStartNumber,
        newestFile: 0,
        first: undefined,
        end: undefined,
      };
      assert.deepEqual(await faultsOf(folder), []);
      assert.equal(await replayed(folder), 'ab');
      assert.equal(await replayed(folder), 'ab');
    }
  });

  it('needs no repair whenever the process is killed', async () => {
    for (const failsAt of ['start', 'started', 'stop', 'stopped'] as const) {
      for (const loses of [true, false]) {
        const folder = newFolder();
        await run(folder, 'ab');
        folder.store.failsAt = failsAt;
        const log = await open(folder).catch(() => undefined);
        if (log !== undefined) {
          await append(log, 'c');
          await log.close();
        }
        folder.store.failsAt = undefined;
        if (loses) folder.disk.crash();
        assert.deepEqual(await faultsOf(folder), [], failsAt);
        assert.equal(await replayed(folder), log === undefined ? 'ab' : 'abc', failsAt);
        assert.equal(await replayed(folder), log === undefined ? 'ab' : 'abc', failsAt);
      }
    }
  });

  it('counts on when a full disk has left no file', async () => {
    const folder = newFolder();
    const log = await open(folder);
    await append(log, 'ab');
    folder.disk.faults = { capacityBytes: 0 };
    const flushed = await log.rotate();
    folder.store.noteFiles(log, flushed);
    await log.removeThrough(flushed);
    await log.close();
    folder.disk.faults = {};
    folder.store.expected = { ...folder.store.expected, newestFile: 0 };
    await run(folder, 'c');
    assert.equal(await replayed(folder), 'c');
    assert.deepEqual(folder.store.expected.first?.sequence, 3);
  });
});
