// Source: https://www.sqlite.org/fileformat2.html#walformat, and the behavior of SQLite with corrupt journals.
import assert from 'node:assert/strict';
import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { sql } from 'kysely';
import { SystemClock } from '../../clock/system-clock.js';
import type { LogLoss } from '../../commit-log/log-loss.js';
import { NodeFileSystem } from '../../fs/node-file-system.js';
import { caseCount } from '../../testing/case-count.js';
import { SeededRandom } from '../../testing/seeded-random.js';
import { temporaryFolder } from '../../testing/temporary-folder.js';
import { storeError } from '../relational-errors.js';
import { readableStore } from './closed-store.js';
import { openRelationalStore } from './sqlite-store.js';

const PAGE_SIZE = 8192;
const FRAME_SIZE = 24 + PAGE_SIZE;
const WAL_HEADER_SIZE = 32;
/** The last transaction is larger than two pages. */
const TRANSACTION_COUNT = 12;

const fileSystem = new NodeFileSystem();
let directory: string;
let path: string;
/** The files of a process that was killed after its last acknowledged transaction. */
let database: Buffer;
let wal: Buffer;

before(async () => {
  directory = await temporaryFolder();
  path = join(directory, 'left.db');
  const source = join(directory, 'source.db');
  const store = await openRelationalStore({ path: source, clock: new SystemClock(), fileSystem });
  await store.transaction((tx) => sql`CREATE TABLE t (n INTEGER, body TEXT)`.execute(tx));
  for (let n = 1; n <= TRANSACTION_COUNT; n++) {
    const body = 'x'.repeat(n === TRANSACTION_COUNT ? 5 * PAGE_SIZE : 10);
    await store.transaction((tx) => sql`INSERT INTO t VALUES (${n}, ${body})`.execute(tx));
  }
  database = await readFile(source);
  wal = await readFile(`${source}-wal`);
  await store.close();
});

interface Opened {
  /** -1 when the table does not exist. */
  readonly rowCount: number;
  readonly losses: readonly LogLoss[];
}

async function openWith(journal: Uint8Array, repair = false): Promise<Opened> {
  for (const ending of ['-wal', '-shm', '-wal.damaged', '-wal.tail.damaged'])
    await rm(path + ending, { force: true });
  await writeFile(path, database);
  await writeFile(`${path}-wal`, journal);
  const losses: LogLoss[] = [];
  const onLoss = (loss: LogLoss) => void losses.push(loss);
  const clock = new SystemClock();
  const store = await openRelationalStore({ path, clock, fileSystem, repair, onLoss });
  try {
    const reader = store.reader<Record<never, never>>();
    const { rows } = await sql<{ count: number }>`SELECT count(*) AS count FROM t`.execute(reader);
    return { rowCount: Number(rows[0]?.count), losses };
  } catch {
    return { rowCount: -1, losses };
  } finally {
    await store.close();
  }
}

function flipped(offset: number, bit = 1): Buffer {
  const bytes = Buffer.from(wal);
  bytes[offset] = (bytes[offset] ?? 0) ^ bit;
  return bytes;
}

/** The offsets of the frames that end a transaction. */
function commits(): number[] {
  const found = [];
  for (let at = WAL_HEADER_SIZE; at < wal.length; at += FRAME_SIZE) {
    if (wal.readUInt32BE(at + 4) !== 0) found.push(at);
  }
  return found;
}

const lastBegin = (): number => (commits().at(-2) ?? 0) + FRAME_SIZE;

it('accepts the journal of a killed process', async () => {
  assert.deepEqual(await openWith(wal), { rowCount: TRANSACTION_COUNT, losses: [] });
});

describe('A flipped bit', () => {
  it('never loses data silently', async () => {
    const random = new SeededRandom(7);
    const count = caseCount(60);
    const bytes = random.bytes(5 * count);
    let refusals = 0;
    for (let n = 0; n < count; n++) {
      const at = Buffer.from(bytes).readUInt32LE(n * 5) % wal.length;
      const bit = 1 << ((bytes[n * 5 + 4] ?? 0) & 7);
      try {
        const { rowCount, losses } = await openWith(flipped(at, bit));
        if (losses.length === 0) assert.equal(rowCount, TRANSACTION_COUNT, `${at} ${bit}`);
        else assert.ok(at >= lastBegin(), `only the last may have been torn: ${at} ${bit}`);
      } catch (error) {
        assert.equal(Reflect.get(Object(error), 'kind'), 'store_damaged', String(error));
        refusals += 1;
      }
    }
    assert.ok(refusals > count / 3, `${refusals}`);
  });

  it('in headers is reported', async () => {
    const second = WAL_HEADER_SIZE + FRAME_SIZE;
    const offsets = Array.from({ length: WAL_HEADER_SIZE }, (_, at) => at);
    for (let at = 0; at < 24; at++) offsets.push(second + at);
    for (const at of offsets) {
      const offset = at < WAL_HEADER_SIZE ? 0 : second;
      await assert.rejects(
        openWith(flipped(at)),
        (error) => storeError.is(error, 'store_damaged') && error.details.offset === offset,
        `${at}`,
      );
    }
    const last = commits().at(-1) ?? 0;
    for (let at = 0; at < 24; at++) {
      const outcome = await openWith(flipped(last + at)).catch((error: unknown) => error);
      const isTold =
        Reflect.get(Object(outcome), 'kind') === 'store_damaged' ||
        (outcome as Opened).losses.length === 1;
      assert.ok(isTold, `byte ${at} of the last header`);
    }
  });

  it('is repaired by a quarantine of the journal, keeping the data before it', async () => {
    const [, , third = 0] = commits();
    const damaged = flipped(third + 100);
    const why = new RegExp(`left\\.db-wal at offset ${third}: invalid frame before a later`);
    await assert.rejects(openWith(damaged), why);
    const { rowCount, losses } = await openWith(damaged, true);
    assert.equal(rowCount, await rowsBySqliteAlone(damaged));
    assert.ok(rowCount < TRANSACTION_COUNT);
    const file = `${path}-wal`;
    const lostBytes = wal.length - third;
    assert.deepEqual(losses, [{ kind: 'moved_aside', file, offset: third, lostBytes }]);
  });
});

describe('A flipped bit in the last transaction', () => {
  it('is reported, and the journal is quarantined before SQLite ignores the transaction', async () => {
    const begin = lastBegin();
    const damaged = flipped(begin + 24 + 100);
    const { rowCount, losses } = await openWith(damaged);
    assert.equal(rowCount, TRANSACTION_COUNT - 1);
    const [file, lostBytes] = [`${path}-wal`, wal.length - begin];
    const quarantined = `${file}.tail.damaged`;
    assert.deepEqual(losses, [{ kind: 'tail_cut', file, offset: begin, lostBytes, quarantined }]);
    assert.deepEqual(await readFile(quarantined), damaged);
    if (process.platform !== 'win32')
      assert.equal((await stat(quarantined)).mode & 0o777, 0o600, 'it contains credentials');
  });

  it('is reported by a check, which changes nothing', async () => {
    await openWith(wal);
    await writeFile(path, database);
    await writeFile(`${path}-wal`, flipped(lastBegin() + 24 + 100));
    const before = await readdir(directory);
    await using readable = await readableStore(fileSystem, path);
    assert.deepEqual([readable.loss?.kind, readable.loss?.offset], ['tail_cut', lastBegin()]);
    assert.deepEqual(await readdir(directory), before);
  });
});

describe('A torn tail', () => {
  it('of the last transaction, in any sector order, is not corruption', async () => {
    const begin = lastBegin();
    assert.ok(wal.length - begin >= 3 * FRAME_SIZE);
    for (let at = begin; at < wal.length; at += 3 * 512) {
      const hole = Buffer.from(wal).fill(0, at, Math.min(at + 512, wal.length));
      for (const left of [hole, wal.subarray(0, at)]) {
        const { rowCount, losses } = await openWith(left);
        // Free space of a page already contains zeros.
        const isWhole = wal.equals(left);
        assert.equal(rowCount, isWhole ? TRANSACTION_COUNT : TRANSACTION_COUNT - 1, `${at}`);
        assert.ok(losses.every(({ kind, offset }) => kind === 'tail_cut' && offset >= begin));
      }
    }
  });

  it('followed by frames of an earlier run is not corruption', async () => {
    const old = Buffer.from(wal.subarray(lastBegin()));
    for (let at = 0; at < old.length; at += FRAME_SIZE) {
      old.writeUInt32BE(1, at + 8);
      // Checksums of an earlier run start from other salts.
      old.writeUInt32BE(1, at + 16);
    }
    const left = Buffer.concat([wal.subarray(0, lastBegin()), old]);
    assert.deepEqual(await openWith(left), { rowCount: TRANSACTION_COUNT - 1, losses: [] });
  });
});

/** Reads a copy with another name, so that only SQLite checks the journal. */
async function rowsBySqliteAlone(journal: Uint8Array): Promise<number> {
  const { default: Database } = await import('libsql');
  const alone = join(directory, 'alone.db');
  await writeFile(alone, database);
  await writeFile(`${alone}-wal`, journal);
  const connection = new Database(alone);
  const row = connection.prepare('SELECT count(*) AS count FROM t').get() as { count: number };
  connection.close();
  return row.count;
}
