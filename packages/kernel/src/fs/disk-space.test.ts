import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createLogger } from '../log/logger.js';
import { ManualClock } from '../testing/manual-clock.js';
import { SeededRandom } from '../testing/seeded-random.js';
import { SimFileSystem } from '../testing/sim-file-system.js';
import { DiskSpace } from './disk-space.js';

const MIB = 1024 * 1024;
const FOLDER = '/data';
const RESERVE = `${FOLDER}/disk-reserve`;

/** A disk on which other programs use `usedBytes`. */
class Disk {
  readonly files = new SimFileSystem(new SeededRandom(1));
  readonly clock = new ManualClock();
  readonly lines: Record<string, unknown>[] = [];
  usedBytes = 0;
  readCount = 0;
  isBroken = false;
  readonly #sizeBytes: number;

  constructor(sizeBytes: number) {
    this.#sizeBytes = sizeBytes;
  }

  async reserved(): Promise<number> {
    return (await this.files.stat(RESERVE))?.sizeBytes ?? 0;
  }

  /** By default 8 MiB must stay free, and 4 MiB are reserved. */
  async open(minFreeBytes = 8 * MIB, reserveBytes = 4 * MIB): Promise<DiskSpace> {
    await this.files.makeDirectory(FOLDER);
    const write = (line: string): void => void this.lines.push(JSON.parse(line));
    return await DiskSpace.open({
      ...{ files: this.files, folder: FOLDER, clock: this.clock, minFreeBytes, reserveBytes },
      log: createLogger({ level: 'info', destination: { write } }),
      readFreeBytes: async () => {
        this.readCount++;
        if (this.isBroken) throw new Error('statfs failed');
        return Math.max(0, this.#sizeBytes - this.usedBytes - (await this.reserved()));
      },
    });
  }
}

it('reserves its file at the first look, and refuses nothing while there is room', async () => {
  const disk = new Disk(100 * MIB);
  const space = await disk.open();
  assert.equal(space.obstacle, undefined);
  await space.refresh();
  assert.equal(await disk.reserved(), 4 * MIB);
  assert.equal(space.obstacle, undefined);
  assert.ok(space.hasSpaceFor(1000 * MIB), 'background work is bounded only on a full disk');
  await space.close();
  await disk.open();
  assert.equal(await disk.reserved(), 4 * MIB, 'a start with room keeps it');
  assert.deepEqual(disk.lines, []);
});

it('refuses below the bound, and accepts again a sixteenth above it', async () => {
  const disk = new Disk(100 * MIB);
  const space = await disk.open();
  await space.refresh();
  const free = async (bytes: number): Promise<boolean> => {
    disk.usedBytes = 96 * MIB - bytes;
    await space.refresh();
    return space.obstacle === undefined;
  };
  assert.ok(await free(8 * MIB));
  assert.ok(!(await free(8 * MIB - 1)));
  assert.equal(space.obstacle?.kind, 'disk_full');
  assert.match(space.obstacle?.message ?? '', /storage\.min_free_bytes/);
  assert.ok(!(await free(8.5 * MIB - 1)));
  assert.ok(await free(8.5 * MIB));
  assert.equal(await disk.reserved(), 4 * MIB, 'nothing had to be released');
});

it('leaves the room of the reserve to deletions while it refuses', async () => {
  const disk = new Disk(100 * MIB);
  const space = await disk.open();
  await space.refresh();
  disk.usedBytes = 90 * MIB; // 6 MiB are free.
  await space.refresh();
  assert.ok(space.hasSpaceFor(2 * MIB));
  assert.ok(!space.hasSpaceFor(2 * MIB + 1));
  disk.usedBytes = 96 * MIB;
  await space.refresh();
  assert.ok(space.hasSpaceFor(0), 'what writes nothing frees the disk');
  assert.ok(!space.hasSpaceFor(1));
});

it('releases half of the reserve on a full disk, the rest at a start, and fills it again', async () => {
  const disk = new Disk(100 * MIB);
  const space = await disk.open();
  await space.refresh();
  disk.usedBytes = 96 * MIB;
  await space.refresh();
  assert.equal(await disk.reserved(), 2 * MIB);
  assert.ok(space.obstacle, 'what was released is not for writes');
  await space.close();

  disk.usedBytes = 98 * MIB; // Other programs took the space first.
  const next = await disk.open();
  assert.equal(await disk.files.stat(RESERVE), undefined);
  assert.ok(next.obstacle);
  const released = disk.lines.filter(({ msg }) => /^reserved disk space/.test(String(msg)));
  assert.deepEqual(
    released.map(({ releasedBytes }) => releasedBytes),
    [2 * MIB, 2 * MIB],
  );
  next.logIfFull();
  const line = disk.lines.find(({ msg }) => /^disk is full; starting read-only/.test(String(msg)));
  assert.equal(line?.['freeBytes'], 2 * MIB);
  assert.equal(line?.['minFreeBytes'], 8 * MIB);

  disk.usedBytes = 100 * MIB - 12 * MIB; // Room for the reserve and the minimum, but not for the extra sixteenth.
  await next.refresh();
  assert.ok(next.obstacle);
  assert.equal(await disk.reserved(), 0);
  disk.usedBytes -= 0.5 * MIB;
  await next.refresh();
  assert.equal(next.obstacle, undefined);
  assert.equal(await disk.reserved(), 4 * MIB);
});

it('looks every second, and earlier when much was written', async () => {
  const disk = new Disk(1000 * MIB);
  const space = await disk.open(256 * MIB);
  await space.refresh();
  const before = disk.readCount;
  for (let n = 0; n < 31; n++) space.noteWritten(MIB);
  assert.equal(disk.readCount, before);
  space.noteWritten(MIB);
  assert.equal(disk.readCount, before + 1);
  await space.refresh();
  assert.equal(disk.readCount, before + 1, 'that look was under way');
  await disk.clock.advanceMs(1000);
  await space.close();
  assert.equal(disk.readCount, before + 2);
});

it('refuses nothing without a bound and a reserve, and removes the file', async () => {
  const disk = new Disk(100 * MIB);
  const space = await disk.open();
  await space.refresh();
  await space.close();
  disk.usedBytes = 96 * MIB;
  const next = await disk.open(0, 0);
  await next.refresh();
  assert.equal(await disk.reserved(), 0);
  assert.equal(next.obstacle, undefined);
});

it('keeps its state and logs once when the disk cannot be read', async () => {
  const disk = new Disk(100 * MIB);
  const space = await disk.open();
  disk.isBroken = true;
  for (let n = 0; n < 3; n++) await space.refresh();
  assert.equal(space.obstacle, undefined);
  const failed = disk.lines.filter(({ msg }) => msg === 'cannot check free disk space');
  assert.deepEqual(
    failed.map(({ why }) => why),
    ['statfs failed'],
  );
});
