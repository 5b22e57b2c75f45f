import assert from 'node:assert/strict';
import { join } from 'node:path';
import { it } from 'node:test';
import fc from 'fast-check';
import { sql } from 'kysely';
import { SystemClock } from '../clock/system-clock.js';
import { NodeFileSystem } from '../fs/node-file-system.js';
import { caseCount } from '../testing/case-count.js';
import { temporaryFolder } from '../testing/temporary-folder.js';
import { RawStatements, type StatementValue } from './raw-statements.js';
import { openRelationalStore } from './sqlite/sqlite-store.js';

const directory = await temporaryFolder();

/** Columns without a type, which store values unchanged. */
const COLUMNS = ['id', 'one', 'two', 'bytes'];

const value: fc.Arbitrary<StatementValue> = fc.oneof(
  fc.constantFrom(
    'same',
    'a \\ud800 that is only text',
    '\ud83d',
    'half \udc00',
    '\u0000',
    'a\u0000b',
  ),
  fc.constantFrom('1', 'null', '', '[1]', '{"a":1}', '💡'),
  fc.constantFrom(0, -0, 1, 2 ** 53, -(2 ** 53), 1e300, 5e-324, 0.1, Number.NaN, null, true, false),
  fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n),
  fc.string(),
  fc.double(),
  fc.integer(),
);

it('stores packed rows exactly like individually bound values', async () => {
  const store = await openRelationalStore({
    path: join(directory, 'plinth.db'),
    clock: new SystemClock(),
    fileSystem: new NodeFileSystem(),
  });
  await store.migrate('test', [
    {
      name: '0001_tables',
      async up(tx) {
        for (const table of ['packed', 'bound']) {
          await sql.raw(`create table ${table} (${COLUMNS.join(', ')})`).execute(tx);
        }
      },
    },
  ]);
  const statements = new RawStatements(store.system);
  const rowsOf = (values: fc.Arbitrary<StatementValue>) =>
    fc.array(fc.tuple(values, values, fc.uint8Array({ maxLength: 9 })), {
      minLength: 8,
      maxLength: 30,
    });
  const oneKind = fc
    .tuple(fc.constantFrom<StatementValue>('same', null, 7, 2n ** 60n), rowsOf(value))
    .map(([same, rows]) => rows.map(([one, _, bytes]) => [one, same, bytes] as const));
  try {
    await fc.assert(
      fc.asyncProperty(fc.oneof(rowsOf(value), oneKind, rowsOf(fc.string())), async (drawn) => {
        const rows = drawn.map((row, index) => [index, ...row]);
        await store.transaction(async (tx) => {
          await statements.run(tx, 'delete from packed');
          await statements.run(tx, 'delete from bound');
          await statements.runAll(tx, statements.bulkInsertion('packed', COLUMNS, rows));
          await statements.runAll(tx, statements.insertion('bound', COLUMNS, rows));
        });
        const stored = async (table: string) =>
          await statements.all(
            store.reader(),
            `select *, typeof(one) as kind_one, typeof(two) as kind_two from ${table} order by id`,
          );
        assert.deepEqual(await stored('packed'), await stored('bound'));
      }),
      { numRuns: caseCount(200) },
    );
  } finally {
    await store.close();
  }
});
