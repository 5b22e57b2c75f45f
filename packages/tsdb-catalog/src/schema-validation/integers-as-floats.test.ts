// Source: tsdb-http, "Integer fields".
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LineProtocolParser } from '@plinth/tsdb-ingest/line-protocol-parser.js';
import type { ParsedField } from '@plinth/tsdb-model/parsed-body.js';
import type { ValidationResult } from '../catalog.js';
import type { RelationalCatalog } from '../relational-catalog.js';
import { openTestCatalog, type TestCatalog } from '../testing/open-test-catalog.js';

const FLOATS = 'float';

async function openWithFloats(): Promise<TestCatalog> {
  const opened = await openTestCatalog();
  await opened.catalog.createDatabase('a', undefined, FLOATS);
  return opened;
}

async function validate(
  catalog: RelationalCatalog,
  text: string,
  database = 'a',
): Promise<ValidationResult> {
  const { tables, refused } = new LineProtocolParser().parse(Buffer.from(text), {
    database,
    precision: 'nanosecond',
    receivedNs: 0n,
  });
  const seriesOf = () => assert.fail('a new parser knows no series');
  const request = { database, tables, allOrNothing: false, alreadyRefused: refused, seriesOf };
  const given = JSON.stringify(tables.map(({ fields }) => fields.map(({ data }) => data.type)));
  const validation = await catalog.validate(request);
  const after = JSON.stringify(tables.map(({ fields }) => fields.map(({ data }) => data.type)));
  assert.equal(
    after,
    given,
    'the parsed tables are not changed, because they may be checked again',
  );
  return validation;
}

/** The values of a field by row; undefined where the row does not have the field. */
function valuesOf({ data, validity }: ParsedField, rowCount: number): unknown[] {
  const values = 'values' in data ? data.values : assert.fail('a text field');
  return Array.from({ length: rowCount }, (_, row) =>
    validity === undefined || ((validity[row >> 3] ?? 0) & (1 << (row & 7))) !== 0
      ? values[row]
      : undefined,
  );
}

/** Name, type and values of each field of the only table, by name. */
const fieldsOf = ({ tables: [table] }: ValidationResult): unknown[] =>
  (table?.parsed.fields ?? [])
    .map((field) => [field.name, field.data.type, valuesOf(field, table?.parsed.rowCount ?? 0)])
    .sort(([a], [b]) => String(a).localeCompare(String(b)));

const refusalsOf = ({ tables }: ValidationResult): string[] =>
  tables.flatMap(({ refusals }) => refusals.map(({ row, message }) => `${row}: ${message}`));

const kindsOf = (catalog: RelationalCatalog, database = 'a'): Record<string, string> =>
  Object.fromEntries(
    [...(catalog.database(database)?.tables.get('m')?.columns.values() ?? [])].map(
      ({ name, kind }) => [name, kind],
    ),
  );

describe('with float integer fields', () => {
  it('a new integer field creates a float column, which accepts integers and floats', async () => {
    await using opened = await openWithFloats();
    const { catalog } = opened;
    const first = await validate(
      catalog,
      'm i=-7i,u=18446744073709551615u 1\nm i=9007199254740993i 2',
    );
    assert.deepEqual(fieldsOf(first), [
      ['i', 'float64', [-7, 9007199254740992]],
      ['u', 'float64', [2 ** 64, undefined]],
    ]);
    assert.deepEqual(kindsOf(catalog), { i: 'float64', time: 'time', u: 'float64' });
    const second = await validate(catalog, 'm i=1.5 3\nm i=2i 4\nm i=3u 5');
    assert.deepEqual(fieldsOf(second), [['i', 'float64', [1.5, 2, 3]]]);
    assert.deepEqual([...refusalsOf(first), ...refusalsOf(second)], []);
  });

  it('rows without the field stay without it', async () => {
    await using opened = await openWithFloats();
    const validation = await validate(
      opened.catalog,
      'm f=5i,g=1 1\nm g=2i 2\nm f=7.5 3\nm g=3u 4',
    );
    assert.deepEqual(fieldsOf(validation), [
      ['f', 'float64', [5, undefined, 7.5, undefined]],
      ['g', 'float64', [1, 2, undefined, 3]],
    ]);
  });

  it('columns of other types stay as they are', async () => {
    await using opened = await openTestCatalog();
    const { catalog } = opened;
    await validate(catalog, 'm,t=x i=1i,s="x",b=true 1', 'a');
    await catalog.changeDatabase('a', { integerFields: FLOATS });
    assert.deepEqual(refusalsOf(await validate(catalog, 'm,t=x i=2i 1')), []);
    const text = 'm,t=x i=2.5 1\nm,t=x s=1i 2\nm,t=x b=1u 3\nm,t=x i=1u 4\nm,t=x t=1i 5';
    const conflict = (row: number, column: string, expected: string, got: string) =>
      `${row}: invalid column type for column '${column}', expected ${expected}, got ${got}`;
    const [int, uint] = ['iox::column_type::field::integer', 'iox::column_type::field::uinteger'];
    assert.deepEqual(refusalsOf(await validate(catalog, text)), [
      conflict(0, 'i', int, 'iox::column_type::field::float'),
      conflict(1, 's', 'iox::column_type::field::string', int),
      conflict(2, 'b', 'iox::column_type::field::boolean', uint),
      conflict(3, 'i', int, uint),
      conflict(4, 't', 'iox::column_type::tag', int),
    ]);
    assert.equal(kindsOf(catalog)['i'], 'int64');
  });

  it('applies to new and existing retention policies, and can be set only for the database', async () => {
    await using opened = await openWithFloats();
    const { catalog } = opened;
    await validate(catalog, 'm i=1i 1', 'a/week');
    assert.deepEqual(kindsOf(catalog, 'a/week'), { i: 'float64', time: 'time' });
    const message =
      "integer_fields cannot be set for the retention policy 'a/week', which uses the value of its database; set it for the database 'a'";
    const refused = { kind: 'parameter_invalid', message };
    await assert.rejects(catalog.changeDatabase('a/week', { integerFields: FLOATS }), refused);
    await assert.rejects(
      catalog.createDatabase('a/day', undefined, FLOATS),
      /for the retention policy 'a\/day'/,
    );
    assert.equal(catalog.database('a/day'), undefined);
  });

  it('is kept by a restart, a changed retention period and undelete, until it is changed', async () => {
    await using opened = await openWithFloats();
    const { catalog } = opened;
    await catalog.setRetention('a', 5n);
    await catalog.deletions.deleteDatabase('a', { kind: 'never' });
    const [deleted] = (await opened.reopen()).deleted.databases();
    await catalog.deletions.undeleteDatabase(deleted?.schema.name ?? '');
    const again = await opened.reopen();
    assert.equal(again.database('a')?.integerFields, FLOATS);
    await validate(again, 'm i=1i 1');
    await again.changeDatabase('a', { integerFields: 'integer' });
    assert.deepEqual(
      [again.database('a')?.integerFields, again.database('a')?.retentionNs],
      [undefined, 5n],
    );
    assert.equal((await opened.reopen()).database('a')?.integerFields, undefined);
    assert.equal(refusalsOf(await validate(again, 'm i=2i 1')).length, 1);
    await validate(again, 'm j=1i 1');
    assert.deepEqual(kindsOf(again), { i: 'float64', j: 'int64', time: 'time' });
  });

  it('converts large requests in steps, with every row', async () => {
    await using opened = await openWithFloats();
    const lines = Array.from(
      { length: 70_000 },
      (_, row) => `m i=${row}${row % 3 ? 'i' : ''} ${row}`,
    );
    const validation = await validate(opened.catalog, lines.join('\n'));
    assert.deepEqual(refusalsOf(validation), []);
    const expected = Array.from({ length: 70_000 }, (_, row) => row);
    assert.deepEqual(fieldsOf(validation), [['i', 'float64', expected]]);
  });
});

it('without the option, integers and floats conflict', async () => {
  await using opened = await openTestCatalog();
  await validate(opened.catalog, 'm i=1i 1');
  assert.deepEqual(kindsOf(opened.catalog), { i: 'int64', time: 'time' });
  assert.equal(refusalsOf(await validate(opened.catalog, 'm i=1.5 1')).length, 1);
});
