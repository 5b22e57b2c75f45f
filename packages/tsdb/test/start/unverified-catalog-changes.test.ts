// Source: docs/adr/0082-file-commits.md. If a committed catalog change is reported as failed,
// memory must agree with the state that is read at the next start.
import assert from 'node:assert/strict';
import { it, type TestContext } from 'node:test';
import { CallFaults, ManualClock, temporaryFolder } from '@plinth/kernel/testing';
import { openTestNode } from '#src/testing/open-test-node.js';
import { query, TEST_DATABASE, writeLines } from '#src/testing/write-and-query.js';

async function open(context: TestContext) {
  const dataDir = await temporaryFolder();
  const faults = new CallFaults();
  const clock = new ManualClock();
  const start = () => openTestNode(dataDir, { clock, faults });
  let node = await start();
  context.after(() => node.close());
  return {
    faults,
    get catalog() {
      return node.catalog;
    },
    write: (...lines: string[]) => writeLines(node, lines),
    ask: async (text: string) => (await query(node, text)).slice(1),
    restart: async () => {
      await node.close();
      node = await start();
    },
  };
}

type Opened = Awaited<ReturnType<typeof open>>;

const database = TEST_DATABASE;
const hardDelete = { kind: 'never' } as const;
const tables = ({ catalog }: Opened): string[] => [
  ...(catalog.database(database)?.tables.keys() ?? []),
];

/** A client's change, its preconditions, and how to observe it. */
const CHANGES: readonly {
  readonly name: string;
  readonly before?: (opened: Opened) => Promise<unknown>;
  readonly change: (opened: Opened) => Promise<unknown>;
  readonly isMade: (opened: Opened) => boolean;
}[] = [
  {
    name: 'a column',
    before: ({ write }) => write('m v=1i 1'),
    change: ({ write }) => write('m v=2i,w=3i 2'),
    isMade: ({ catalog }) => catalog.database(database)?.tables.get('m')?.columns.has('w') === true,
  },
  {
    name: 'a table',
    before: ({ write }) => write('other v=1i 1'),
    change: ({ write }) => write('m v=2i,w=3i 2'),
    isMade: (opened) => tables(opened).includes('m'),
  },
  {
    name: 'a database',
    change: ({ catalog }) => catalog.createDatabase(database, undefined),
    isMade: ({ catalog }) => catalog.database(database) !== undefined,
  },
  {
    name: 'a deleted table',
    before: ({ write }) => write('m v=1i 1', 'other v=1i 1'),
    change: ({ catalog }) => catalog.deletions.deleteTable({ database, table: 'm', hardDelete }),
    isMade: (opened) => !tables(opened).includes('m'),
  },
  {
    name: 'a deleted database',
    before: ({ write }) => write('m v=1i 1'),
    change: ({ catalog }) => catalog.deletions.deleteDatabase(database, hardDelete),
    isMade: ({ catalog }) => catalog.database(database) === undefined,
  },
  {
    name: 'a table that came back',
    async before({ catalog, write }) {
      await write('m v=1i 1', 'other v=1i 1');
      await catalog.deletions.deleteTable({ database, table: 'm', hardDelete });
    },
    change: ({ catalog }) => catalog.deletions.undeleteTable({ database, table: 'm' }),
    isMade: (opened) => tables(opened).includes('m'),
  },
  {
    name: 'a database that came back',
    async before({ catalog, write }) {
      await write('m v=1i 1');
      await catalog.deletions.deleteDatabase(database, hardDelete);
    },
    change: ({ catalog }) => catalog.deletions.undeleteDatabase(database),
    isMade: ({ catalog }) => catalog.database(database) !== undefined,
  },
];

for (const { name, before, change, isMade } of CHANGES) {
  it(`shows ${name} that was stored but reported as failed`, async (context) => {
    const opened = await open(context);
    await before?.(opened);
    opened.faults.fail({ kind: 'relational.transaction', effect: 'done' });
    await change(opened);
    assert.equal(isMade(opened), true);
    await opened.restart();
    assert.equal(isMade(opened), true);
  });

  for (const effect of ['done', 'none'] as const) {
    it(`determines the outcome of ${name} before the next change (${effect})`, async (context) => {
      const opened = await open(context);
      await before?.(opened);
      opened.faults.fail({ kind: 'relational.transaction', effect });
      opened.faults.fail({ kind: 'relational.read' });
      await assert.rejects(change(opened), { kind: 'relational.transaction' });
      // any result is fine
      await opened.catalog.setShardDuration(database, 1n).catch(() => undefined);
      assert.equal(isMade(opened), effect === 'done');
      await opened.restart();
      assert.equal(isMade(opened), effect === 'done');
    });
  }
}

it('keeps rows written after a deletion with an unknown outcome', async (context) => {
  const opened = await open(context);
  await opened.write('m v=1i 1', 'other v=1i 1');
  opened.faults.fail({ kind: 'relational.transaction', effect: 'done' });
  opened.faults.fail({ kind: 'relational.read' });
  const at = { database, table: 'm', hardDelete };
  await assert.rejects(opened.catalog.deletions.deleteTable(at));
  await opened.write('m v=2i 2');
  assert.deepEqual(await opened.ask('SELECT v FROM m'), ['2']);
  await opened.restart();
  assert.deepEqual(await opened.ask('SELECT v FROM m'), ['2']);
});

it('rejects new columns while the catalog is unreachable', async (context) => {
  const { faults, write, ask } = await open(context);
  await write('m v=1i 1');
  faults.fail({ kind: 'relational.transaction', effect: 'done' });
  faults.fail({ kind: 'relational.read', count: 3 });
  for (let i = 0; i < 3; i++) await assert.rejects(write('m w=2i 2'));
  await write('m w=2i 2');
  assert.deepEqual(await ask('SELECT v, w FROM m ORDER BY time'), ['1 | NULL', 'NULL | 2']);
});
