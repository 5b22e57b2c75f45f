import assert from 'node:assert/strict';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, it } from 'node:test';
import { sql } from 'kysely';
import Database from 'libsql';
import { SystemClock } from '../../clock/system-clock.js';
import type { LogLoss } from '../../commit-log/log-loss.js';
import { NodeFileSystem } from '../../fs/node-file-system.js';
import { temporaryFolder } from '../../testing/temporary-folder.js';
import { checkDatabase } from './database-task.js';
import { CHECKED_AT_OPENING_BYTES, openRelationalStore } from './sqlite-store.js';

// Source: docs/adr/0003-embedded-relational-store.md; sqlite.org/fileformat2.html, section 1.6.
let folder: string;
let path: string;
beforeEach(async () => {
  folder = await temporaryFolder();
  path = join(folder, 'plinth.db');
});

const ROW_COUNT = 2000;

async function open(repair = false) {
  const losses: LogLoss[] = [];
  const store = await openRelationalStore({
    ...{ path, clock: new SystemClock(), fileSystem: new NodeFileSystem(), repair },
    onLoss: (loss) => losses.push(loss),
  });
  return { store, losses };
}

async function fill(): Promise<void> {
  const { store } = await open();
  await store.transaction(async (tx) => {
    await sql`CREATE TABLE parent (id INTEGER PRIMARY KEY)`.execute(tx);
    await sql`CREATE TABLE child (name TEXT PRIMARY KEY, parent INTEGER REFERENCES parent (id)) WITHOUT ROWID`.execute(
      tx,
    );
    await sql`CREATE TABLE "odd ""name" (id INTEGER PRIMARY KEY AUTOINCREMENT, a TEXT UNIQUE, b)`.execute(
      tx,
    );
    await sql`CREATE UNIQUE INDEX by_b ON "odd ""name" (b) WHERE b > 0`.execute(tx);
    await sql`INSERT INTO parent VALUES (1)`.execute(tx);
    await sql`INSERT INTO child VALUES ('c', 1)`.execute(tx);
    await sql`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${ROW_COUNT})
      INSERT INTO "odd ""name" (a, b) SELECT 'text ' || i, i FROM n`.execute(tx);
  });
  await store.close();
}

async function change(statement: string): Promise<void> {
  const { store } = await open();
  await store.transaction(async (tx) => await sql.raw(statement).execute(tx));
  await store.close();
}

/** Overwrites nine bytes in the first page of a b-tree. */
async function spoil(name: string): Promise<void> {
  const database = new Database(path);
  const row = database
    .prepare('SELECT rootpage AS root FROM sqlite_master WHERE name = ?')
    .get(name);
  const [size] = database.prepare('PRAGMA page_size').all() as { page_size: number }[];
  database.close();
  const { root } = row as { root: number };
  const bytes = await readFile(path);
  const from = (root - 1) * (size?.page_size ?? 0);
  for (let at = from; at < from + 9; at++) bytes[at] = (bytes[at] ?? 0) ^ 0xff;
  await writeFile(path, bytes);
}

describe('A database with corrupt pages', () => {
  for (const [what, name] of [
    ['a table', 'odd "name'],
    ['a table without row ids', 'child'],
  ] as const) {
    it(`of ${what} is not opened and not repaired`, async () => {
      await fill();
      await spoil(name);
      const before = await readFile(path);
      await assert.rejects(open(), (error: Error) =>
        error.message.startsWith(`relational store is corrupt: ${path}: `),
      );
      await assert.rejects(open(true), /cannot be rebuilt, because rows are affected/);
      assert.deepEqual(await readFile(path), before);
      const others = (await readdir(folder)).filter(
        (name) => !/^plinth\.db(-wal|-shm)?$/.test(name),
      );
      assert.deepEqual(others, [], 'no other files are left');
      const journal = await readFile(`${path}-wal`).catch(() => Buffer.alloc(0));
      assert.equal(journal.length, 0, 'SQLite may leave an empty journal');
    });
  }

  for (const name of ['by_b', 'sqlite_autoindex_odd "name_1']) {
    it(`of the index ${name} is rebuilt by a repair with all rows`, async () => {
      await fill();
      await spoil(name);
      await assert.rejects(open(), { kind: 'store_corrupt' });
      const { store, losses } = await open(true);
      assert.deepEqual(
        losses.map(({ kind, file, lostRecordCount }) => [kind, file, lostRecordCount]),
        [['moved_aside', path, 0]],
      );
      const found = await sql<{ count: number; sum: number }>`
        SELECT count(*) AS count, sum(b) AS sum FROM "odd ""name" WHERE b > 0`.execute(
        store.reader(),
      );
      assert.deepEqual(found.rows, [{ count: ROW_COUNT, sum: (ROW_COUNT * (ROW_COUNT + 1)) / 2 }]);
      await assert.rejects(
        store.transaction(
          async (tx) =>
            await sql`INSERT INTO "odd ""name" (a, b) VALUES ('text 7', -1)`.execute(tx),
        ),
        { kind: 'constraint_violated' },
      );
      const next = await store.transaction(
        async (tx) =>
          await sql<{
            id: number;
          }>`INSERT INTO "odd ""name" (a) VALUES ('new') RETURNING id`.execute(tx),
      );
      assert.ok((next.rows[0]?.id ?? 0) > ROW_COUNT, 'ids are not reused');
      await store.close();
      assert.deepEqual(await checkDatabase(path, true), []);
      assert.equal((await stat(path)).mode & 0o777, 0o600);
      assert.ok((await readdir(folder)).includes('plinth.db.damaged'));
    });
  }

  it('of an index is rebuilt by a repair, and ids of deleted rows are not reused', async () => {
    await fill();
    await change('DELETE FROM "odd ""name"');
    await spoil('by_b');
    const { store } = await open(true);
    const next = await store.transaction(
      async (tx) =>
        await sql<{ id: number }>`INSERT INTO "odd ""name" (a) VALUES ('new') RETURNING id`.execute(
          tx,
        ),
    );
    await store.close();
    assert.equal(next.rows[0]?.id, ROW_COUNT + 1);
  });

  it('is checked by every repair, even when it is too large for a normal startup check', async () => {
    await fill();
    await change('CREATE TABLE large (body BLOB)');
    await change(`INSERT INTO large VALUES (zeroblob(${CHECKED_AT_OPENING_BYTES}))`);
    await spoil('by_b');
    const unchecked = await open();
    await unchecked.store.close();
    assert.deepEqual(unchecked.losses, []);
    const { store, losses } = await open(true);
    await store.close();
    assert.deepEqual(
      losses.map(({ kind }) => kind),
      ['moved_aside'],
    );
    assert.deepEqual(await checkDatabase(path, true), []);
  });

  it('is not rebuilt when it has unsupported objects', async () => {
    await fill();
    await change('CREATE TRIGGER after_child AFTER DELETE ON child BEGIN DELETE FROM parent; END');
    await spoil('by_b');
    await assert.rejects(open(true), {
      kind: 'store_corrupt',
      message: `relational store is corrupt: ${path}: it cannot be rebuilt: ${path}: rebuild failed: unsupported schema object trigger; restore a snapshot or backup`,
    });
  });

  it('is reported when it is not a database', async () => {
    await fill();
    const bytes = await readFile(path);
    await writeFile(path, bytes.fill(0xee, 0, 100));
    await assert.rejects(open(), { kind: 'store_corrupt' });
  });
});

describe('checkDatabase', () => {
  it('rejects when the database cannot be checked, instead of returning faults', async () => {
    const missing = join(folder, 'missing', 'plinth.db');
    await assert.rejects(checkDatabase(missing, false), {
      name: 'StatementFailed',
      message: /missing\/plinth\.db: check failed: .*unable to open/i,
    });
  });

  it('can be interrupted within a statement', async () => {
    await fill();
    // The check evaluates this constraint for each row, which takes minutes.
    await change(
      'CREATE TABLE slow (id INTEGER PRIMARY KEY, CHECK (length(hex(zeroblob(20000000 + id))) > 0))',
    );
    const database = new Database(path);
    database.pragma('ignore_check_constraints = ON');
    database.exec(
      'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) INSERT INTO slow SELECT i FROM n',
    );
    database.close();
    const stop = new AbortController();
    const checked = checkDatabase(path, false, stop.signal);
    setTimeout(() => stop.abort(), 2000);
    // SQLite has no message if the interrupt arrives between two steps.
    await assert.rejects(
      checked,
      /check failed: (interrupted|This operation was aborted|not an error)/,
    );
  });

  it('finds missing references, and indexes that contradict their tables', async () => {
    await fill();
    assert.deepEqual(await checkDatabase(path, true), []);
    const database = new Database(path);
    database.pragma('foreign_keys = OFF');
    database.exec('DELETE FROM parent');
    database.close();
    assert.deepEqual(await checkDatabase(path, false), []);
    assert.deepEqual(await checkDatabase(path, true), ['rows of child reference missing rows']);
    const bytes = await readFile(path);
    // Change one letter of one row, in the table or in its index.
    bytes[bytes.indexOf('text 1999') + 3] = 0x78;
    await writeFile(path, bytes);
    assert.match((await checkDatabase(path, true)).join(), /missing from index|wrong # of entries/);
  });
});
