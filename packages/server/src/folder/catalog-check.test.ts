import assert from 'node:assert/strict';
import { join } from 'node:path';
import { beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  CHECKED_AT_OPENING_BYTES,
  createLogger,
  NodeFileSystem,
  openRelationalStore,
  SystemClock,
} from '@plinth/kernel';
import { temporaryFolder } from '@plinth/kernel/testing';
import { sql } from 'kysely';
import { CatalogCheck } from './catalog-check.js';

const BEGUN_MICROS = 200_000;

/** Reports every file as too large to be checked at startup. */
class LargeFiles extends NodeFileSystem {
  override async stat() {
    const sizeBytes = CHECKED_AT_OPENING_BYTES + 1;
    return { sizeBytes, isDirectory: false, modifiedMs: 0, mode: 0o600 };
  }
}

// Source: docs/adr/0003-embedded-relational-store.md.
describe('The check of a large plinth.db beside the work', () => {
  let folder: string;
  let lines: string[];
  beforeEach(async () => {
    folder = await temporaryFolder();
    lines = [];
  });

  const checkOf = (path: string): CatalogCheck =>
    new CatalogCheck({
      ...{ files: new LargeFiles(), path },
      log: createLogger({
        ...{ level: 'info', isText: false },
        destination: { write: (line: string) => lines.push(JSON.parse(line).msg) },
      }),
    });

  it('reports one that cannot be read in the log, and not as corrupt', async () => {
    const check = checkOf(join(folder, 'missing', 'plinth.db'));
    check.start();
    for (let round = 0; round < 200 && lines.length === 0; round++) await sleep(100);
    await check.close();
    assert.deepEqual([lines, check.obstacle], [['plinth.db cannot be checked'], undefined]);
  });

  it('does not delay a stop', async () => {
    const path = join(folder, 'plinth.db');
    const clock = new SystemClock();
    const store = await openRelationalStore({ path, clock, fileSystem: new NodeFileSystem() });
    // A check evaluates this constraint for each row, which takes minutes in total.
    const statements = [
      'CREATE TABLE slow (id INTEGER PRIMARY KEY, CHECK (length(hex(zeroblob(20000000 + id))) > 0))',
      'PRAGMA ignore_check_constraints = ON',
      'INSERT INTO slow WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) SELECT i FROM n',
    ];
    await store.transaction(async (tx) => {
      for (const statement of statements) await sql.raw(statement).execute(tx);
    });
    await store.close();
    const check = checkOf(path);
    check.start();
    // Once the thread has used CPU time, it is processing the rows.
    const before = process.cpuUsage();
    for (let i = 0; i < 200 && process.cpuUsage(before).user < BEGUN_MICROS; i++) await sleep(50);
    await check.close();
    // One that had run to its end would be in the log.
    assert.deepEqual([lines, check.obstacle], [[], undefined]);
  });
});
