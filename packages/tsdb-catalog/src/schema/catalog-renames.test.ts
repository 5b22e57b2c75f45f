// Source of the expected messages: tsdb-http, "Renames".
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { TableSchema } from '@plinth/tsdb-model/schema.js';
import { openTestCatalog, type TestCatalog } from '../testing/open-test-catalog.js';

const at = { database: 'a', table: 'm' };
const FIELDS = [
  { name: 'temp', type: 'float64' },
  { name: 'note', type: 'utf8' },
] as const;

async function withTable(): Promise<TestCatalog> {
  const opened = await openTestCatalog();
  await opened.catalog.createTable({ ...at, tags: ['host', 'room'], fields: FIELDS });
  return opened;
}

const tableOf = (opened: TestCatalog, name = 'm'): TableSchema => {
  const table = opened.catalog.database('a')?.tables.get(name);
  assert.ok(table);
  return table;
};

it('renames a tag, keeps its id, physical name, key and position, also after a restart', async () => {
  await using opened = await withTable();
  const before = tableOf(opened);
  await opened.catalog.renames.renameColumn({ ...at, column: 'host', newName: 'server' });
  const after = tableOf(opened);
  const { name: _, ...kept } = before.columns.get('host') ?? assert.fail();
  assert.deepEqual(after.columns.get('server'), { ...kept, name: 'server', storedTagName: 'host' });
  assert.deepEqual([...after.columns.keys()], ['note', 'room', 'server', 'temp', 'time']);
  assert.deepEqual(after.seriesKey, ['server', 'room']);
  assert.deepEqual([...(after.formerColumns ?? [])], [['host', 'server']]);
  assert.equal(after.version, before.version + 1);
  await opened.catalog.renames.renameColumn({ ...at, column: 'server', newName: 'node' });
  const twice = tableOf(opened);
  assert.equal(twice.columns.get('node')?.storedTagName, 'host');
  assert.deepEqual(
    new Map(twice.formerColumns),
    new Map([
      ['host', 'node'],
      ['server', 'node'],
    ]),
  );
  const again = await opened.reopen();
  assert.deepEqual(again.database('a'), opened.catalog.database('a'));
  await opened.catalog.renames.renameColumn({ ...at, column: 'node', newName: 'host' });
  assert.deepEqual(
    new Map(tableOf(opened).formerColumns),
    new Map([
      ['server', 'host'],
      ['node', 'host'],
    ]),
  );
});

it('renames a table, keeps its id, and frees a former name on request', async () => {
  await using opened = await withTable();
  const { catalog } = opened;
  const { id } = tableOf(opened);
  const count = { tables: [] as string[] };
  catalog.whenRenamed(({ name }) => count.tables.push(name));
  await catalog.renames.renameTable({ ...at, newName: 'n' });
  assert.equal(tableOf(opened, 'n').id, id);
  assert.deepEqual([...(catalog.database('a')?.tables.keys() ?? [])], ['n']);
  assert.deepEqual([...(catalog.database('a')?.formerTables ?? [])], [['m', 'n']]);
  assert.deepEqual((await opened.reopen()).database('a'), catalog.database('a'));
  const create = () => catalog.createTable({ ...at, tags: [], fields: [] });
  await assert.rejects(create(), { kind: 'name_taken', message: /'m' was renamed to 'n'/ });
  await catalog.renames.forgetName(at);
  assert.equal(catalog.database('a')?.formerTables, undefined);
  await create();
  assert.notEqual(tableOf(opened).id, id);
  assert.deepEqual((await opened.reopen()).database('a'), catalog.database('a'));
  assert.deepEqual(count.tables, ['n', 'n']);
});

it('accepts a return to a former name of the same table', async () => {
  await using opened = await withTable();
  const { renames } = opened.catalog;
  await renames.renameTable({ ...at, newName: 'n' });
  await renames.renameTable({ database: 'a', table: 'n', newName: 'm' });
  assert.deepEqual(new Map(opened.catalog.database('a')?.formerTables), new Map([['n', 'm']]));
});

it('refuses names that are invalid, reserved or in use', async () => {
  await using opened = await withTable();
  const { renames, deletions } = opened.catalog;
  await opened.catalog.createTable({ ...at, table: 'other', tags: [], fields: [] });
  await opened.catalog.createTable({ ...at, table: 'gone', tags: [], fields: [] });
  await deletions.deleteTable({ ...at, table: 'gone', hardDelete: { kind: 'never' } });
  const gone = opened.catalog.deleted.tables()[0]?.entry.schema.name ?? assert.fail();
  const tables = [
    ['', 'table_definition_invalid', 'table name cannot be empty'],
    ['a\nb', 'table_definition_invalid', 'table name cannot contain control characters'],
    [
      '#x',
      'rename_invalid',
      `"#x" starts with '#', like a comment, and cannot be written in line protocol; use another name`,
    ],
    [
      'x\\',
      'rename_invalid',
      '"x\\\\" ends with a backslash and cannot be written in line protocol; use another name',
    ],
    ['m', 'rename_invalid', "the table already has the name 'm'; use a different name"],
    ['other', 'name_taken', "table 'other' already exists; use another name"],
    [gone, 'name_taken', `a deleted table still has the name '${gone}'; use another name`],
  ] as const;
  for (const [newName, kind, message] of tables)
    await assert.rejects(renames.renameTable({ ...at, newName }), { kind, message });
  const columns = [
    ['temp', '', 'table_definition_invalid', 'column name cannot be empty'],
    [
      'temp',
      'a\tb',
      'rename_invalid',
      '"a\\tb" contains a tab or newline and cannot be written in line protocol; use another name',
    ],
    ['temp', 'time', 'rename_invalid', "'time' is a reserved column; use another name"],
    ['temp', 'temp', 'rename_invalid', "the column already has the name 'temp'; use a different name"],
    ['temp', 'host', 'name_taken', "column 'host' already exists; use another name"],
    ['time', 't', 'rename_invalid', "column 'time' cannot be renamed; choose a tag or a field"],
    ['none', 't', 'column_not_known', 'Column none not in table m'],
  ] as const;
  for (const [column, newName, kind, message] of columns)
    await assert.rejects(renames.renameColumn({ ...at, column, newName }), { kind, message });
  const missing = { database: 'a', table: 'none', newName: 'x' };
  await assert.rejects(renames.renameTable(missing), { kind: 'table_not_known' });
  await assert.rejects(renames.renameTable({ ...missing, database: 'none' }), {
    kind: 'database_not_known',
  });
  await assert.rejects(renames.renameTable({ ...missing, database: '_internal' }), {
    kind: 'internal_database',
  });
});

it('reserves the former name of a column for this column', async () => {
  await using opened = await withTable();
  const { renames } = opened.catalog;
  await renames.renameColumn({ ...at, column: 'temp', newName: 'celsius' });
  await assert.rejects(renames.renameColumn({ ...at, column: 'note', newName: 'temp' }), {
    kind: 'name_taken',
    message: "'temp' is a former name of column 'celsius'; use another name",
  });
  await assert.rejects(renames.renameColumn({ ...at, column: 'temp', newName: 'x' }), {
    kind: 'column_not_known',
    message: "Column temp not in table m; it was renamed to 'celsius'",
  });
});

it('keeps former names of a table over its deletion, unless they are in use again', async () => {
  await using opened = await withTable();
  const { catalog } = opened;
  await catalog.renames.renameTable({ ...at, newName: 'n' });
  const n = { database: 'a', table: 'n' };
  await catalog.deletions.deleteTable({ ...n, hardDelete: { kind: 'never' } });
  await catalog.createTable({ ...at, tags: [], fields: [] });
  await catalog.deletions.undeleteTable(n);
  assert.equal(catalog.database('a')?.formerTables, undefined);
  assert.deepEqual(tableOf(opened, 'n').formerNames, ['m']);
});

it('limits the former names of a table', async () => {
  await using opened = await withTable();
  const { renames } = opened.catalog;
  for (let i = 0; i < 1000; i++)
    await renames.renameTable({
      database: 'a',
      table: i === 0 ? 'm' : `m${i - 1}`,
      newName: `m${i}`,
    });
  await assert.rejects(renames.renameTable({ database: 'a', table: 'm999', newName: 'm1000' }), {
    kind: 'schema_limit_reached',
  });
  // The number of former names stays the same: one is in use again, another is added.
  await renames.renameTable({ database: 'a', table: 'm999', newName: 'm' });
});

it('refuses to rename a busy table and its columns, also if it becomes busy before the change', async () => {
  await using opened = await withTable();
  const { renames } = opened.catalog;
  const busy = new Set<number>();
  renames.refuseWhile((tableId) => busy.has(tableId));
  const rename = { ...at, column: 'temp', newName: 'x' };
  renames.checkColumn(rename);
  busy.add(tableOf(opened).id);
  await assert.rejects(renames.renameColumn(rename), { kind: 'table_converting' });
  await assert.rejects(renames.renameTable(rename), { kind: 'table_converting' });
  busy.clear();
  await renames.renameColumn(rename);
});
