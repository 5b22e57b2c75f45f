import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { caseCount } from '../testing/case-count.js';
import { SeededRandom } from '../testing/seeded-random.js';
import { SimFileSystem } from '../testing/sim-file-system.js';
import { openCommitLog } from './file-commit-log.js';
import { logError } from './log-errors.js';
import { encodeFileHeader, SALT_SIZE } from './log-format.js';
import type { LogLoss } from './log-loss.js';

const DIRECTORY = '/data/log';
const FIRST_FILE = `${DIRECTORY}/000000000001.log`;
const NODE_ID = '01890a5d-ac96-774b-bcce-b302099a8057';

const open = async (
  fileSystem: SimFileSystem,
  repair = false,
  zeroStepSize = 700,
  nodeId = NODE_ID,
) => {
  const losses: LogLoss[] = [];
  const onLoss = (loss: LogLoss) => losses.push(loss);
  const random = new SeededRandom(7);
  const base = { fileSystem, directory: DIRECTORY, nodeId, random };
  const options = { ...base, repair, onLoss, zeroStepSize };
  return { log: await openCommitLog(options), losses };
};

const replayed = async (fileSystem: SimFileSystem, repair = false): Promise<string[]> => {
  const { log } = await open(fileSystem, repair);
  const payloads: string[] = [];
  for await (const { payload } of log.replay()) payloads.push(Buffer.from(payload).toString());
  await log.close();
  return payloads;
};

/** A log with the given groups of records, each group written by one write. */
const written = async (
  groups: readonly (readonly string[])[],
  end: 'closed' | 'killed' = 'closed',
): Promise<SimFileSystem> => {
  const fileSystem = new SimFileSystem(new SeededRandom(1));
  const { log } = await open(fileSystem);
  for (const group of groups) {
    await Promise.all(group.map((payload) => log.append([Buffer.from(payload)]).durable));
  }
  if (end === 'closed') await log.close();
  return fileSystem;
};

const readAll = async (fileSystem: SimFileSystem, path: string): Promise<Uint8Array> => {
  const handle = await fileSystem.open(path, 'r');
  const bytes = new Uint8Array(await handle.sizeBytes());
  await handle.read(bytes, 0);
  return bytes;
};

const replace = async (fileSystem: SimFileSystem, path: string, bytes: Uint8Array) => {
  const handle = await fileSystem.open(path, 'w');
  await handle.write([bytes], 0);
  await handle.sync();
};

/** From `docs/formats/commit-log.md`: a clean stop writes this mark after the last record, a crash does not. */
const END_MARK_SIZE = 8;
const withoutMark = (bytes: Uint8Array): Uint8Array =>
  bytes.subarray(0, bytes.length - END_MARK_SIZE);

const groupsOf = fc.array(fc.array(fc.string({ maxLength: 40 }), { minLength: 1, maxLength: 5 }), {
  minLength: 1,
  maxLength: 6,
});

/** The records that a repair can keep when the byte at `at` is corrupt. Sizes and offsets: docs/formats/commit-log.md. */
function recordsWithout(payloads: readonly string[], at: number): readonly string[] {
  // Without its start number or its salt the header cannot be proven.
  if ((at >= 12 && at < 16) || (at >= 48 && at < 60)) return [];
  let offset = 64;
  return payloads.filter((payload) => {
    const from = offset;
    offset += 32 + Buffer.byteLength(payload);
    return at < from || at >= offset;
  });
}

describe('FileCommitLog', () => {
  it('recovers exactly a prefix from any cut', async () => {
    await fc.assert(
      fc.asyncProperty(
        groupsOf,
        fc.double({ min: 0, max: 1, noNaN: true }),
        async (groups, part) => {
          const fileSystem = await written(groups);
          const bytes = await readAll(fileSystem, FIRST_FILE);
          await replace(fileSystem, FIRST_FILE, bytes.subarray(0, Math.floor(part * bytes.length)));
          const found = await replayed(fileSystem);
          assert.deepEqual(found, groups.flat().slice(0, found.length));
          if (part === 1) assert.equal(found.length, groups.flat().length);
        },
      ),
      { numRuns: caseCount(300) },
    );
  });

  it('takes zeros behind the last record as the end of the log, which is no loss', async () => {
    await fc.assert(
      fc.asyncProperty(groupsOf, fc.boolean(), async (groups, hasPowerFailed) => {
        const fileSystem = await written(groups, 'killed');
        const { length } = await readAll(fileSystem, FIRST_FILE);
        if (hasPowerFailed) fileSystem.crash();
        const { log, losses } = await open(fileSystem);
        await log.close();
        assert.deepEqual(losses, []);
        const kept = await readAll(fileSystem, FIRST_FILE);
        assert.ok(kept.length < length, 'there were zeros, and recovery gave them back');
        assert.deepEqual(await replayed(fileSystem), groups.flat());
      }),
      { numRuns: caseCount(200) },
    );
  });

  it('cuts whatever a torn write left between zeros, and counts no zeros as lost', async () => {
    const left = fc.array(fc.record({ at: fc.nat(1500), bytes: fc.uint8Array({ minLength: 1 }) }));
    await fc.assert(
      fc.asyncProperty(groupsOf, left, async (groups, pieces) => {
        const fileSystem = await written(groups);
        const bytes = withoutMark(await readAll(fileSystem, FIRST_FILE));
        const torn = new Uint8Array(bytes.length + 4000);
        torn.set(bytes);
        for (const { at, bytes: piece } of pieces) torn.set(piece, bytes.length + at);
        const last = torn.findLastIndex((byte, index) => byte !== 0 && index >= bytes.length);
        await replace(fileSystem, FIRST_FILE, torn);
        const { log, losses } = await open(fileSystem);
        await log.close();
        const lostBytes = last < 0 ? [] : [last + 1 - bytes.length];
        assert.deepEqual(
          losses.map((loss) => loss.lostBytes),
          lostBytes,
        );
        assert.deepEqual(await replayed(fileSystem), groups.flat());
      }),
      { numRuns: caseCount(200) },
    );
  });

  it('refuses zeros in the place of a record that had been synced', async () => {
    const fileSystem = await written([['first'], ['second']]);
    const bytes = await readAll(fileSystem, FIRST_FILE);
    await replace(fileSystem, FIRST_FILE, bytes.fill(0, 64, 64 + 32 + 'first'.length));
    await assert.rejects(replayed(fileSystem), { kind: 'log_damaged' });
    const rotated = await written([['first']], 'killed');
    await (await open(rotated)).log.close(); // a second file, whose first sequence number reveals the loss
    const first = await readAll(rotated, FIRST_FILE);
    await replace(rotated, FIRST_FILE, first.fill(0, 64));
    await assert.rejects(replayed(rotated), { kind: 'log_damaged' });
  });

  it('refuses any flipped bit of a record after a clean stop, and loses nothing by one behind the records', async () => {
    await fc.assert(
      fc.asyncProperty(groupsOf, fc.nat(), fc.nat(7), async (groups, place, bit) => {
        const fileSystem = await written(groups);
        const bytes = await readAll(fileSystem, FIRST_FILE);
        const at = 64 + (place % (bytes.length - 64));
        bytes[at] = (bytes[at] as number) ^ (1 << bit);
        await replace(fileSystem, FIRST_FILE, bytes);
        if (at < bytes.length - END_MARK_SIZE) {
          await assert.rejects(replayed(fileSystem), { kind: 'log_damaged' });
          const kept = recordsWithout(groups.flat(), at);
          assert.deepEqual(await replayed(fileSystem, true), kept);
          return;
        }
        const { log, losses } = await open(fileSystem);
        await log.close();
        assert.deepEqual(
          losses.map(({ kind }) => kind),
          ['tail_cleared'],
        );
        assert.deepEqual(await replayed(fileSystem), groups.flat());
      }),
      { numRuns: 300 },
    );
  });

  it('cuts or reports any flipped bit, and never replays what was not written', async () => {
    await fc.assert(
      fc.asyncProperty(groupsOf, fc.nat(), fc.nat(7), async (groups, place, bit) => {
        const fileSystem = await written(groups);
        const bytes = withoutMark(await readAll(fileSystem, FIRST_FILE));
        const at = place % bytes.length;
        bytes[at] = (bytes[at] as number) ^ (1 << bit);
        await replace(fileSystem, FIRST_FILE, bytes);
        // Only the last write may be cut: the earlier ones were synced.
        const certain = groups.slice(0, -1).flat().length;
        let found: string[];
        try {
          found = await replayed(fileSystem);
          assert.ok(found.length >= certain, 'a synced record was cut');
          assert.ok(found.length < groups.flat().length, 'a flipped bit went unnoticed');
        } catch (error) {
          assert.ok(logError.is(error, 'log_damaged'), String(error));
          assert.equal(error.details.file, FIRST_FILE);
          found = await replayed(fileSystem, true);
          assert.deepEqual(found, recordsWithout(groups.flat(), at), 'all other records are kept');
          assert.deepEqual(await replayed(fileSystem), found, 'the repair is for good');
          return;
        }
        assert.deepEqual(found, groups.flat().slice(0, found.length));
      }),
      { numRuns: caseCount(500) },
    );
  });

  it('refuses a missing file and damage in a file that is not the last', async () => {
    const build = async () => {
      const fileSystem = new SimFileSystem(new SeededRandom(1));
      const { log } = await open(fileSystem);
      for (const payload of ['a', 'b', 'c']) {
        await log.append([Buffer.from(payload)]).durable;
        await log.rotate();
      }
      await log.close();
      return fileSystem;
    };
    const missing = await build();
    await missing.remove(`${DIRECTORY}/000000000002.log`);
    await assert.rejects(replayed(missing), /records missing before this file: 1/);
    assert.deepEqual(await replayed(missing, true), ['a', 'c']);
    missing.crash();
    assert.deepEqual(await replayed(missing), ['a', 'c'], 'the repair is for good');
    const headless = await build();
    const second = `${DIRECTORY}/000000000002.log`;
    const head = await readAll(headless, second);
    head[20] = 1;
    await replace(headless, second, head);
    await assert.rejects(replayed(headless), { kind: 'log_damaged' });
    assert.deepEqual(await replayed(headless, true), ['a', 'b', 'c']);
    headless.crash();
    assert.deepEqual(await replayed(headless), ['a', 'b', 'c'], 'the repair is for good');
    const shortened = await build();
    const bytes = await readAll(shortened, FIRST_FILE);
    await replace(shortened, FIRST_FILE, bytes.subarray(0, bytes.length - 1));
    await assert.rejects(replayed(shortened), { kind: 'log_damaged' });
    assert.deepEqual(await replayed(shortened, true), ['b', 'c']);
    assert.ok((await shortened.list(DIRECTORY)).includes('000000000001.log.damaged'));
  });

  it('refuses files of another time or another server, and a repair never replays them', async () => {
    const build = async (nodeId: string, count: number): Promise<SimFileSystem> => {
      const fileSystem = new SimFileSystem(new SeededRandom(1));
      const { log } = await open(fileSystem, false, 0, nodeId);
      for (let n = 1; n <= count; n += 1) {
        await log.append([Buffer.from(`${nodeId.slice(0, 1)}${n}`)]).durable;
        await log.rotate();
      }
      await log.close();
      return fileSystem;
    };
    const third = `${DIRECTORY}/000000000003.log`;
    const foreign = await readAll(await build(NODE_ID.replace(/^./, 'f'), 3), third);
    // The header that a server would write after it found the folder empty.
    const again = encodeFileHeader({
      ...{ nodeId: NODE_ID, serverStartNumber: 0, file: 3, firstSequence: 1 },
      salt: new Uint8Array(SALT_SIZE),
    }).bytes;
    for (const [bytes, why] of [
      [foreign, /it was written by another server \(f/],
      [again, /first record has number 1 instead of 3/],
    ] as const) {
      const disk = await build(NODE_ID, 2);
      await replace(disk, third, bytes);
      await assert.rejects(replayed(disk), why);
      assert.deepEqual(await replayed(disk, true), ['01', '02']);
      disk.crash();
      assert.deepEqual(await replayed(disk), ['01', '02'], 'the repair is for good');
      assert.ok((await disk.list(DIRECTORY)).includes('000000000003.log.damaged'));
    }
  });

  it('keeps everything acknowledged over random crashes, in order, once, and nothing torn', async () => {
    for (let seed = 1; seed <= caseCount(3000); seed += 1) await crashRun(seed);
  });

  it('syncs what a killed process left in memory before it writes a further file', async () => {
    for (let seed = 1; seed <= caseCount(50); seed += 1) {
      const fileSystem = new SimFileSystem(new SeededRandom(seed));
      const { log: killed } = await open(fileSystem);
      killed.append([Buffer.alloc(2000, 'a')]);
      // Written, but the process dies before the sync: this log is never closed.
      await Promise.resolve();
      await Promise.resolve();
      const { log } = await open(fileSystem);
      await log.append([Buffer.from('b')]).durable;
      fileSystem.crash();
      const found = await replayed(fileSystem);
      assert.equal(found.at(-1), 'b');
    }
  });

  it('is read-only for good after a failed sync, and rejects all that wait', async () => {
    const fileSystem = new SimFileSystem(new SeededRandom(3));
    const { log } = await open(fileSystem);
    await log.append([Buffer.from('kept')]).durable;
    fileSystem.faults = { syncFails: 1 };
    const waiting = [1, 2, 3].map((n) => log.append([Buffer.from(`lost ${n}`)]).durable);
    const outcomes = await Promise.allSettled(waiting);
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['rejected', 'rejected', 'rejected'],
    );
    fileSystem.faults = {};
    assert.equal(log.isReadOnly, true);
    assert.throws(() => log.append([]), { kind: 'log_read_only' });
    await log.close();
    fileSystem.crash();
    assert.equal((await replayed(fileSystem))[0], 'kept');
  });

  it('takes nothing while the disk is full, and all that was acknowledged stays', async () => {
    const fileSystem = new SimFileSystem(new SeededRandom(4), { capacityBytes: 1000 });
    const { log } = await open(fileSystem);
    let acknowledged = 0;
    await assert.rejects(async () => {
      for (;;) {
        await log.append([Buffer.from(`record ${acknowledged}`)]).durable;
        acknowledged += 1;
      }
    });
    await log.close();
    fileSystem.crash();
    fileSystem.faults = {};
    const found = await replayed(fileSystem);
    assert.ok(acknowledged > 10 && found.length >= acknowledged);
  });

  it('recovers what was acknowledged between and after full disks, each record once and in order', async () => {
    for (let seed = 1; seed <= caseCount(2000); seed += 1) await fullDiskRun(seed);
  });
});

/** Fills and frees the disk several times while records are written; each lifetime ends with a crash. */
async function fullDiskRun(seed: number): Promise<void> {
  const random = new SeededRandom(seed);
  const fileSystem = new SimFileSystem(random);
  const appended: string[] = [];
  const acknowledged = new Set<string>();
  for (let life = 0; life < 3; life += 1) {
    const { log } = await open(fileSystem, false, Math.floor(random.float() * 3) * 1500);
    const stepCount = 5 + Math.floor(random.float() * 20);
    for (let step = 0; step < stepCount; step += 1) {
      if (random.float() < 0.3) {
        const capacityBytes = random.float() < 0.5 ? 0 : Math.floor(random.float() * 20_000);
        fileSystem.faults = random.float() < 0.5 ? {} : { capacityBytes };
      }
      if (random.float() < 0.1) log.rotate().catch(() => {});
      if (random.float() < 0.4) await new Promise<void>((resolve) => setImmediate(resolve));
      log.recheckFreeSpace();
      if (log.diskFullError !== undefined) continue;
      const payload = `${life}/${step}/${'x'.repeat(Math.floor(random.float() ** 4 * 3000))}`;
      appended.push(payload);
      log.append([Buffer.from(payload)]).durable.then(
        () => acknowledged.add(payload),
        () => {},
      );
    }
    fileSystem.faults = {};
    fileSystem.crash();
    await log.close().catch(() => {});
    const known = await replayed(fileSystem);
    assert.deepEqual(
      known,
      appended.filter((payload) => known.includes(payload)),
      `seed ${seed}: order or content`,
    );
    for (const payload of acknowledged) {
      assert.ok(known.includes(payload), `seed ${seed}: acknowledged record lost`);
    }
  }
}

/** Several lifetimes of one log on one disk, each ended by a crash at a random moment. */
async function crashRun(seed: number): Promise<void> {
  const random = new SeededRandom(seed);
  const fileSystem = new SimFileSystem(random);
  const appended: string[] = [];
  const acknowledged = new Set<string>();
  let known: readonly string[] = [];
  for (let life = 0; life < 3; life += 1) {
    const { log } = await open(fileSystem, false, Math.floor(random.float() * 4) * 1500);
    const attempted: string[] = [...known];
    const stepCount = Math.floor(random.float() * 12);
    for (let step = 0; step < stepCount; step += 1) {
      const payload = `${life}/${step}/${'x'.repeat(Math.floor(random.float() ** 4 * 3000))}`;
      attempted.push(payload);
      appended.push(payload);
      const confirm = () => acknowledged.add(payload);
      log.append([Buffer.from(payload)]).durable.then(confirm, () => {});
      if (random.float() < 0.4) await new Promise<void>((resolve) => setImmediate(resolve));
      if (random.float() < 0.1) log.rotate().catch(() => {});
    }
    fileSystem.crash();
    await log.close().catch(() => {});
    known = await replayed(fileSystem);
    assert.deepEqual(known, attempted.slice(0, known.length), `seed ${seed}: order or content`);
    for (const payload of acknowledged) {
      assert.ok(known.includes(payload), `seed ${seed}: acknowledged record lost`);
    }
  }
}
