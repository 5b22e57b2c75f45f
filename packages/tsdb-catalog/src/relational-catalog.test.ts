// Source of the expected messages: tsdb-http, "Schema on write, names, limits" and "Tables".
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { LineProtocolParser } from '@plinth/tsdb-ingest/line-protocol-parser.js';
import type { RelationalCatalog } from './relational-catalog.js';
import { openTestCatalog } from './testing/open-test-catalog.js';

function validate(
  catalog: RelationalCatalog,
  database: string,
  text: string,
  allOrNothing = false,
) {
  const body = new LineProtocolParser().parse(Buffer.from(text), {
    database,
    precision: 'nanosecond',
    receivedNs: 0n,
  });
  const seriesOf = () => assert.fail('a new parser knows no series');
  const { tables, refused: alreadyRefused } = body;
  return catalog.validate({ database, tables, allOrNothing, alreadyRefused, seriesOf });
}

it('starts with the internal database, which is read-only', async () => {
  await using opened = await openTestCatalog();
  const { catalog } = opened;
  const [internal, ...others] = catalog.databases();
  assert.deepEqual([internal?.name, others.length], ['_internal', 0]);
  assert.equal(internal?.retentionNs, 7n * 24n * 3600n * 1_000_000_000n);
  const refused = { kind: 'internal_database', message: 'cannot modify internal db' };
  assert.throws(() => validate(catalog, '_internal', 'm f=1'), refused);
  const table = { database: '_internal', table: 'm', tags: [], fields: [] };
  await assert.rejects(catalog.createTable(table), refused);
});

it('stores more new tables of one write than fit in a statement, and reports each', async () => {
  await using opened = await openTestCatalog();
  const names = Array.from({ length: 1100 }, (_, index) => `m${index}`);
  await validate(opened.catalog, 'a', names.map((name) => `${name},t=x f=1`).join('\n'));
  const before = opened.catalog.database('a');
  assert.deepEqual([...(before?.tables.keys() ?? [])], names);
  const again = await opened.reopen();
  assert.deepEqual(again.database('a'), before);
  await again.createTable({ database: 'a', table: 'next', tags: [], fields: [] });
  const ids = [...(again.database('a')?.tables.values() ?? [])].map(({ id }) => id);
  assert.equal(new Set(ids).size, 1101);
});

it('keeps arbitrary names, ids and uuids across a restart', async () => {
  await using opened = await openTestCatalog();
  const { catalog } = opened;
  await validate(catalog, 'a', '温度,größe=1 a\0b=1,a\\0b=1,a\\\\x=1,Time=2i,"q"=t 1');
  await catalog.createTable({ database: 'a', table: 'm\\0', tags: ['\0'], fields: [] });
  const before = catalog.database('a');
  const again = await opened.reopen();
  assert.deepEqual(again.database('a'), before);
  assert.equal(again.clusterUuid, catalog.clusterUuid);
  assert.equal(again.nodeUuid, catalog.nodeUuid);
});

it('returns synchronously if nothing has to be created', async () => {
  await using opened = await openTestCatalog();
  const { catalog } = opened;
  assert.ok(validate(catalog, 'a', 'm,t=1 f=1') instanceof Promise);
  await catalog.ensureDatabase('a');
  const second = validate(catalog, 'a', 'm,t=2 f=2\nm f=1i');
  assert.ok(!(second instanceof Promise));
  assert.deepEqual(second.tables[0]?.refusals, [
    {
      row: 1,
      message:
        "invalid column type for column 'f', expected iox::column_type::field::float, got iox::column_type::field::integer",
      reason: 'type_conflict',
    },
  ]);
});

it('yields to the event loop while it rejects 350,000 rows of a wrong type', async () => {
  await using opened = await openTestCatalog();
  const { catalog } = opened;
  await validate(catalog, 'a', 'm f=1');
  const validation = validate(catalog, 'a', 'm f=1i\n'.repeat(350_000));
  let isDone = false;
  let turnCount = 0;
  const count = (): void => {
    turnCount++;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  const { tables } = await validation;
  isDone = true;
  assert.equal(tables[0]?.refusals.length, 350_000);
  assert.deepEqual(tables[0]?.refusals.at(-1)?.row, 349_999);
  assert.ok(turnCount > 3, `${turnCount} turns`);
});

it('does not create the database for a request that is rejected completely', async () => {
  await using opened = await openTestCatalog();
  for (const text of ['m f=1\nm f=1i', 'm f=1\nnonsense']) {
    const response = await validate(opened.catalog, 'a', text, true);
    assert.equal(response.database, undefined);
    assert.equal(response.tables[0]?.schema, undefined);
  }
  assert.equal(opened.catalog.database('a'), undefined);
});

it('reserves __chunk_order as well as time', async () => {
  await using opened = await openTestCatalog();
  const response = await validate(opened.catalog, 'a', 'm __chunk_order=1\nm,time=x f=1\nm f=1');
  assert.deepEqual(
    response.tables[0]?.refusals.map((refusal) => refusal.message),
    ["'__chunk_order' is a reserved column", "'time' is a reserved column"],
  );
});

it('counts databases, tables and columns against the limits', async () => {
  await using opened = await openTestCatalog({ databaseCount: 1, tableCount: 1 });
  const { catalog } = opened;
  await catalog.createDatabase('a', 5n);
  assert.equal(catalog.database('a')?.retentionNs, 5n);
  const full = {
    kind: 'database_limit_reached',
    message: 'Adding a new database would exceed limit of 1 databases',
  };
  await assert.rejects(catalog.createDatabase('b', undefined), full);
  await assert.rejects(catalog.ensureDatabase('b'), full);
  await assert.rejects(async () => validate(catalog, 'b', 'm f=1'), full);
  await catalog.createTable({ database: 'a', table: 'm', tags: [], fields: [] });
  await assert.rejects(catalog.createTable({ database: 'a', table: 'n', tags: [], fields: [] }), {
    kind: 'schema_limit_reached',
    message:
      'Update to schema would exceed number of tables limit: attempted to create table but already have 1 table(s) (limit: 1)',
  });
});

it('creates a table with its columns, in the order of the tags', async () => {
  await using opened = await openTestCatalog();
  const { catalog } = opened;
  const fields = [{ name: 'f', type: 'uint64' }] as const;
  const definition = { database: 'new', table: 'm', tags: ['z', 'a'], fields };
  const table = await catalog.createTable(definition);
  assert.deepEqual(table.seriesKey, ['z', 'a']);
  assert.deepEqual([...table.columns.keys()], ['a', 'f', 'time', 'z']);
  const exists = {
    kind: 'resource_exists',
    message: 'attempted to create a resource that already exists',
  };
  await assert.rejects(catalog.createTable(definition), exists);
  await assert.rejects(catalog.createDatabase('new', undefined), exists);
  const invalid = async (tags: string[], message: string) =>
    await assert.rejects(catalog.createTable({ database: 'new', table: 'x', tags, fields }), {
      kind: 'table_definition_invalid',
      message,
    });
  await invalid(['time'], "'time' is a reserved column");
  await invalid(
    ['f'],
    "invalid column type for column 'f', expected iox::column_type::tag, got iox::column_type::field::uinteger",
  );
  await assert.rejects(catalog.createTable({ ...definition, database: '' }), {
    kind: 'database_name_invalid',
    message: 'db name cannot be empty',
  });
});
