import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { DiskFull } from '../fs/disk-full.js';
import type { FreeDiskSpace } from '../fs/disk-space.js';
import { CallFaults } from '../testing/call-faults.js';
import { failingLogFiles } from '../testing/failing-stores.js';
import { SeededRandom } from '../testing/seeded-random.js';
import { SimFileSystem } from '../testing/sim-file-system.js';
import type { CommitLogOptions } from './commit-log-options.js';
import { type FileCommitLog, openCommitLog } from './file-commit-log.js';
import type { LogLoss } from './log-loss.js';

const DIRECTORY = '/log';
const NODE_ID = '01890a5d-ac96-774b-bcce-b302099a8057';

const open = (fileSystem: SimFileSystem, options: Partial<CommitLogOptions> = {}) =>
  openCommitLog({
    fileSystem,
    directory: DIRECTORY,
    nodeId: NODE_ID,
    random: new SeededRandom(7),
    zeroStepSize: 700,
    onLoss: (loss) => assert.fail(`lost ${JSON.stringify(loss)}`),
    ...options,
  });

const replayed = async (
  fileSystem: SimFileSystem,
  options: Partial<CommitLogOptions> = {},
): Promise<string[]> => {
  const log = await open(fileSystem, options);
  const payloads: string[] = [];
  for await (const { payload } of log.replay()) payloads.push(Buffer.from(payload).toString());
  await log.close();
  return payloads;
};

const newDisk = (seed = 1) => new SimFileSystem(new SeededRandom(seed));

describe('FileCommitLog.linkFiles', () => {
  const BACKUP = '/backup';
  const payloadsOfCopy = async (disk: SimFileSystem): Promise<string[]> =>
    await replayed(disk, { directory: BACKUP });

  it('gives closed files a second name, which stays when they are removed', async () => {
    const disk = newDisk();
    await disk.makeDirectory(BACKUP);
    const log = await open(disk);
    for (const payload of ['a', 'b']) log.append([Buffer.from(payload)]);
    const file = await log.rotate();
    await log.append([Buffer.from('later')]).durable;
    assert.equal((await log.linkFiles(file, BACKUP)).length, file);
    await log.removeThrough(file);
    await log.close();
    assert.deepEqual(await payloadsOfCopy(disk), ['a', 'b']);
  });

  it('leaves no hole, however far the oldest files are being removed', async () => {
    for (let removedCount = 0; removedCount <= 4; removedCount += 1) {
      const disk = newDisk();
      await disk.makeDirectory(BACKUP);
      const log = await open(disk);
      let file = 0;
      for (const payload of ['a', 'b', 'c', 'd']) {
        await log.append([Buffer.from(payload)]).durable;
        file = await log.rotate();
      }
      const linking = log.linkFiles(file, BACKUP);
      if (removedCount > 0) await log.removeThrough(removedCount);
      const linked = await linking;
      await log.close();
      const found = await payloadsOfCopy(disk);
      assert.deepEqual(found, ['a', 'b', 'c', 'd'].slice(4 - linked.length));
      assert.ok(linked.length >= 4 - removedCount);
    }
  });
});

describe('FileCommitLog.rotate and removeThrough', () => {
  it('puts records appended after the call into the next file, those before it into the closed one', async () => {
    const disk = newDisk();
    const log = await open(disk);
    const before = log.append([Buffer.from('a')]);
    const rotated = log.rotate();
    const after = log.append([Buffer.from('b')]);
    assert.equal(await rotated, before.position.file);
    await Promise.all([before.durable, after.durable]);
    assert.equal(after.position.file, before.position.file + 1);
    await log.close();
    assert.deepEqual(await replayed(disk), ['a', 'b']);
  });

  it('removes files for good, and nothing else', async () => {
    const disk = newDisk();
    const log = await open(disk);
    for (const payload of ['a', 'b', 'c']) {
      await log.append([Buffer.from(payload)]).durable;
      if (payload !== 'c') await log.rotate();
    }
    const fullSize = log.sizeBytes;
    await log.removeThrough(2);
    assert.ok(log.sizeBytes < fullSize);
    disk.crash();
    assert.deepEqual(await replayed(disk), ['c']);
  });

  it('leaves a log that opens, whenever the power fails while files are removed', async () => {
    for (let seed = 1; seed <= 20; seed++) {
      const disk = newDisk(seed);
      const log = await open(disk);
      for (const payload of ['a', 'b', 'c']) {
        await log.append([Buffer.from(payload)]).durable;
        await log.rotate();
      }
      disk.faults = { syncFails: 0.5 };
      await log.removeThrough(2).catch(() => {});
      disk.faults = {};
      disk.crash();
      const kept = await replayed(disk);
      assert.deepEqual(kept, ['a', 'b', 'c'].slice(-kept.length), `seed ${seed}`);
    }
  });
});

describe('FileCommitLog writes', () => {
  /** A disk that counts writes of records. The test decides when the first write ends. */
  const slowDisk = () => {
    const disk = newDisk();
    const writes = { count: 0, endFirst: (): void => {} };
    const firstEnds = new Promise<void>((resolve) => {
      writes.endFirst = resolve;
    });
    const openFile = disk.open.bind(disk);
    disk.open = async (path, mode, kind, ...rest) => {
      const handle = await openFile(path, mode, kind, ...rest);
      if (kind !== 'synced') return handle;
      const write = handle.write.bind(handle);
      handle.write = async (parts, position) => {
        writes.count += 1;
        if (writes.count === 1) await firstEnds;
        await write(parts, position);
      };
      return handle;
    };
    return { disk, writes };
  };

  it('takes the next record of a client that was acknowledged just now together with those that waited', async () => {
    const { disk, writes } = slowDisk();
    const log = await open(disk);
    const first = log.append([Buffer.from('a')]);
    await setImmediate();
    const waited = ['b', 'c'].map((payload) => log.append([Buffer.from(payload)]));
    writes.endFirst();
    await first.durable;
    await setImmediate(); // Its response is sent, and the next request has arrived by the next poll.
    await log.append([Buffer.from('d')]).durable;
    await Promise.all(waited.map(({ durable }) => durable));
    assert.equal(writes.count, 2);
    await log.close();
    assert.deepEqual(await replayed(disk), ['a', 'b', 'c', 'd']);
  });

  it('waits for nobody when those that were acknowledged send no more', async () => {
    const { disk, writes } = slowDisk();
    const log = await open(disk);
    const first = log.append([Buffer.from('a')]);
    await setImmediate();
    const second = log.append([Buffer.from('b')]);
    writes.endFirst();
    await first.durable;
    await second.durable;
    assert.equal(writes.count, 2);
    await log.close();
  });
});

describe('FileCommitLog limits', () => {
  it('refuses a record over the limit and takes the next', async () => {
    const disk = newDisk();
    const log = await open(disk, { maxRecordSize: 10 });
    assert.throws(() => log.append([new Uint8Array(6), new Uint8Array(5)]), {
      kind: 'log_overloaded',
    });
    await log.append([Buffer.from('0123456789')]).durable;
    await log.close();
    assert.deepEqual(await replayed(disk), ['0123456789']);
  });

  it('refuses records while too many bytes wait, and takes them again afterwards', async () => {
    const disk = newDisk();
    const log = await open(disk, { maxWaitingSize: 200 });
    const first = log.append([new Uint8Array(100)]);
    assert.throws(() => log.append([new Uint8Array(150)]), { kind: 'log_overloaded' });
    await first.durable;
    await log.append([new Uint8Array(150)]).durable;
    await log.close();
  });

  it('keeps the order of records that need more than one write', async () => {
    const disk = newDisk();
    const log = await open(disk);
    const done: number[] = [];
    const records = [0, 1, 2].map(async (index) => {
      await log.append([new Uint8Array(5 * 1024 * 1024).fill(97 + index)]).durable;
      done.push(index);
    });
    await Promise.all(records);
    await log.close();
    assert.deepEqual(done, [0, 1, 2]);
    assert.deepEqual(
      (await replayed(disk)).map((text) => text.slice(0, 1)),
      ['a', 'b', 'c'],
    );
  });
});

describe('FileCommitLog on a failing disk', () => {
  const failures = {
    'a short write': { writeIsShort: 1 },
    'a failed sync': { syncFails: 1 },
  };
  for (const [name, faults] of Object.entries(failures)) {
    it(`${name} rejects all that wait and makes the log read-only until it is opened again`, async () => {
      const disk = newDisk();
      const log = await open(disk, { zeroStepSize: 0 });
      await log.append([Buffer.from('kept')]).durable;
      disk.faults = faults;
      const waiting = ['x', 'y'].map((text) => log.append([Buffer.from(text)]).durable);
      for (const durable of waiting) await assert.rejects(durable, { kind: 'log_read_only' });
      assert.equal(log.isReadOnly, true);
      disk.faults = {};
      assert.throws(() => log.append([Buffer.from('z')]), { kind: 'log_read_only' });
      await assert.rejects(log.rotate(), { kind: 'log_read_only' });
      await log.close();
      disk.crash();
      // Refused records may be present, complete and in order; acknowledged records must be.
      const onLoss = ({ kind }: LogLoss) => assert.equal(kind, 'tail_cut');
      const found = await replayed(disk, { onLoss });
      assert.deepEqual(found, ['kept', 'x', 'y'].slice(0, found.length));
      assert.ok(found.length >= 1);
    });
  }

  it('a next file whose name does not reach the disk is not written to', async () => {
    const disk = newDisk();
    const log = await open(disk);
    await log.append([Buffer.from('kept')]).durable;
    disk.faults = { syncFails: 1 };
    await assert.rejects(log.rotate(), { kind: 'log_read_only' });
    assert.throws(() => log.append([Buffer.from('z')]), { kind: 'log_read_only' });
    await log.close();
    disk.faults = {};
    disk.crash();
    assert.deepEqual(await replayed(disk), ['kept']);
  });
});

describe('FileCommitLog on a full disk', () => {
  const full = { kind: 'disk_full' } as const;
  /** Waits until the log accepts records again, or long enough to see that it does not. */
  async function whenTaking(log: FileCommitLog): Promise<boolean> {
    log.recheckFreeSpace();
    for (let turn = 0; turn < 20 && log.diskFullError !== undefined; turn++) {
      await setImmediate();
    }
    return log.diskFullError === undefined;
  }

  it('refuses what waits and what comes, and goes on in a new file when there is room', async () => {
    for (const zeroStepSize of [0, 4096]) {
      const disk = newDisk();
      const log = await open(disk, { zeroStepSize });
      await log.append([Buffer.from('kept')]).durable;
      disk.faults = { capacityBytes: 0 };
      const waiting = ['x', 'y'].map((text) => log.append([Buffer.alloc(9000, text)]).durable);
      for (const durable of waiting) await assert.rejects(durable, full);
      assert.deepEqual([log.isReadOnly, log.diskFullError !== undefined], [false, true]);
      assert.throws(() => log.append([Buffer.from('z')]), full);
      // The next generation starts even though the file is empty.
      assert.equal(await log.rotate(), 2);
      if (zeroStepSize > 0) assert.equal(await whenTaking(log), false);
      disk.faults = {};
      assert.equal(await whenTaking(log), true);
      await log.append([Buffer.from('later')]).durable;
      assert.equal(await log.rotate(), 3);
      await log.append([Buffer.from('last')]).durable;
      disk.crash();
      await log.close().catch(() => undefined);
      assert.deepEqual(await replayed(disk), ['kept', 'later', 'last']);
    }
  });

  it('opens without a file of its own, and makes one when there is room', async () => {
    const disk = newDisk();
    const before = await open(disk);
    await before.append([Buffer.from('kept')]).durable;
    await before.close();
    disk.faults = { capacityBytes: 0 };
    const log = await open(disk);
    assert.ok(log.diskFullError);
    assert.deepEqual([log.firstFile, log.newestFile], [1, 1]);
    assert.throws(() => log.append([Buffer.from('z')]), full);
    disk.faults = {};
    assert.equal(await whenTaking(log), true);
    await log.append([Buffer.from('later')]).durable;
    await log.close();
    assert.deepEqual(await replayed(disk), ['kept', 'later']);
  });

  it('is as on a full disk while what is left is for others', async () => {
    const disk = newDisk();
    let obstacle: DiskFull | undefined = DiskFull.low();
    let writtenBytes = 0;
    const diskSpace: FreeDiskSpace = {
      get obstacle() {
        return obstacle;
      },
      hasSpaceFor: () => false,
      noteWritten(sizeBytes) {
        writtenBytes += sizeBytes;
      },
    };
    const log = await open(disk, { diskSpace });
    assert.throws(() => log.append([Buffer.from('z')]), full);
    assert.equal(await whenTaking(log), false);
    obstacle = undefined;
    assert.equal(await whenTaking(log), true);
    await log.append([Buffer.from('kept')]).durable;
    assert.ok(writtenBytes > 4);
    obstacle = DiskFull.low();
    assert.throws(() => log.append([Buffer.from('z')]), full);
    obstacle = undefined;
    await log.append([Buffer.from('later')]).durable;
    await log.close();
    assert.deepEqual(await replayed(disk), ['kept', 'later']);
  });

  it('needs a rotation to have no room of its own', async () => {
    const disk = newDisk();
    const log = await open(disk, { zeroStepSize: 0 });
    await log.append([Buffer.from('kept')]).durable;
    disk.faults = { capacityBytes: 0 };
    assert.equal(await log.rotate(), 1);
    assert.throws(() => log.append([Buffer.from('z')]), full);
    disk.faults = {};
    assert.equal(await whenTaking(log), true);
    await log.append([Buffer.from('later')]).durable;
    await log.removeThrough(1);
    await log.close();
    assert.deepEqual(await replayed(disk), ['later']);
  });

  it('goes on in a new file when the end of the one before finds no room, and leaves that one alone', async () => {
    const disk = newDisk();
    const faults = new CallFaults();
    const log = await open(disk, { fileSystem: failingLogFiles(disk, faults) });
    await log.append([Buffer.from('kept')]).durable;
    const error = Object.assign(new Error('no space left'), { code: 'ENOSPC' });
    faults.fail({ kind: 'log.truncate', error });
    const rotated = log.rotate();
    const meanwhile = log.append([Buffer.from('refused')]).durable;
    await assert.rejects(meanwhile, full);
    assert.equal(await rotated, 1);
    assert.equal(faults.counts.get('log.truncate'), 1);
    assert.deepEqual([log.isReadOnly, log.diskFullError !== undefined], [false, true]);
    assert.equal(await whenTaking(log), true);
    await log.append([Buffer.from('later')]).durable;
    await log.close();
    assert.deepEqual(await replayed(disk), ['kept', 'later']);
  });

  it('goes on when the system gives it files again', async () => {
    const disk = newDisk();
    const faults = new CallFaults();
    const log = await open(disk, { fileSystem: failingLogFiles(disk, faults) });
    await log.append([Buffer.from('kept')]).durable;
    const error = Object.assign(new Error('too many open files'), { code: 'EMFILE' });
    faults.fail({ kind: 'log.open', error });
    assert.equal(await log.rotate().catch(() => 1), 1);
    assert.throws(() => log.append([Buffer.from('refused')]), /limit of open files/);
    assert.equal(log.isReadOnly, false);
    assert.equal(await whenTaking(log), true);
    await log.append([Buffer.from('later')]).durable;
    await log.close();
    assert.deepEqual(await replayed(disk), ['kept', 'later']);
  });

  it('links every closed file for a backup, however often it was rotated without room', async () => {
    for (let rotationCount = 1; rotationCount <= 3; rotationCount++) {
      const disk = newDisk();
      await disk.makeDirectory('/backup');
      const log = await open(disk, { zeroStepSize: 0 });
      await log.append([Buffer.from('kept')]).durable;
      await log.rotate();
      await log.append([Buffer.from('as well')]).durable;
      disk.faults = { capacityBytes: 0 };
      let last = 0;
      for (let i = 0; i < rotationCount; i++) last = await log.rotate();
      assert.equal((await log.linkFiles(last, '/backup')).length, 2);
      disk.faults = {};
      assert.deepEqual(await replayed(disk, { directory: '/backup' }), ['kept', 'as well']);
      assert.equal(await whenTaking(log), true);
      await log.append([Buffer.from('later')]).durable;
      await log.close();
      assert.deepEqual(await replayed(disk), ['kept', 'as well', 'later']);
    }
  });

  it('is read-only for good when the end of the file it leaves cannot be synced', async () => {
    const disk = newDisk();
    const log = await open(disk, { zeroStepSize: 0 });
    await log.append([Buffer.from('kept')]).durable;
    disk.faults = { capacityBytes: 0 };
    const { durable } = log.append([Buffer.alloc(9000, 'x')]);
    await assert.rejects(durable, full);
    disk.faults = { syncFails: 1 };
    for (let turn = 0; turn < 20 && !log.isReadOnly; turn++) {
      await setImmediate();
    }
    disk.faults = {};
    assert.throws(() => log.append([Buffer.from('z')]), { kind: 'log_read_only' });
    await log.close();
  });
});
