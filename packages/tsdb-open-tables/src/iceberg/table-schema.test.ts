// Source: docs/OPEN-TABLES.md, "Types and names".
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Column, ColumnKind } from '@plinth/tsdb-model/columns/column.js';
import { publishedColumns, type Tree } from './table-schema.js';

const column = (id: number, name: string, kind: ColumnKind, physicalName = name): Column => ({
  ...{ id, name, kind, physicalName },
});
const TIME = column(1, 'time', 'time');
const namesOf = (columns: readonly Column[], tree: Tree = 'plain'): string[] =>
  publishedColumns([TIME, ...columns], tree).fields.map(({ name }) => name);

it('maps types, and leaves out unsigned integers by name', () => {
  const columns = [
    column(2, 'a', 'tag'),
    column(3, 'b', 'float64'),
    column(4, 'c', 'int64'),
    column(5, 'd', 'uint64'),
    column(6, 'e', 'utf8'),
    column(7, 'f', 'bool'),
  ];
  const published = publishedColumns([TIME, ...columns], 'plain');
  assert.deepEqual(
    published.fields.map(({ id, type }) => [id, type]),
    [
      [1, 'timestamp_ns'],
      [2, 'string'],
      [3, 'double'],
      [4, 'long'],
      [6, 'string'],
      [7, 'boolean'],
    ],
  );
  assert.deepEqual(
    published.absent.map(({ column: name }) => name),
    ['d'],
  );
  assert.equal(publishedColumns([TIME, column(9, 'u', 'uint64')], 'jvm').lastColumnId, 9);
});

it('maps every column of a file to an id, with the private columns outside the schema', () => {
  const { nameMapping } = publishedColumns(
    [TIME, column(2, 'tag', 'tag'), column(3, 'Tag', 'tag', '3~Tag'), column(4, 'u', 'uint64')],
    'jvm',
  );
  assert.deepEqual(nameMapping, [
    { 'field-id': 1, names: ['time', 'time_ns'] },
    { 'field-id': 2, names: ['tag'] },
    { 'field-id': 3, names: ['3~Tag', 'Tag__2'] },
    { 'field-id': 4, names: ['u'] },
    { 'field-id': 2_000_000_000, names: ['_series'] },
    { 'field-id': 2_000_000_001, names: ['_seq'] },
  ]);
});

it('maps each name of a file once if a column of a client has the name of a private column', () => {
  const columns = [column(2, '_series', 'int64', '2~_series'), column(3, '_seq', 'tag', '3~_seq')];
  const { fields, nameMapping } = publishedColumns([TIME, ...columns], 'plain');
  assert.deepEqual(
    fields.map(({ name }) => name),
    ['time', '_series', '_seq'],
  );
  assert.deepEqual(nameMapping, [
    { 'field-id': 1, names: ['time'] },
    { 'field-id': 2, names: ['2~_series'] },
    { 'field-id': 3, names: ['3~_seq'] },
    { 'field-id': 2_000_000_000, names: ['_series'] },
    { 'field-id': 2_000_000_001, names: ['_seq'] },
  ]);
});

it('numbers names that differ only by case, without taking a name of the user', () => {
  const tag = (id: number, name: string): Column => column(id, name, 'tag');
  assert.deepEqual(namesOf([tag(2, 'tag'), tag(3, 'TAG'), tag(4, 'Tag')]), [
    'time',
    'tag',
    'TAG__2',
    'Tag__3',
  ]);
  assert.deepEqual(namesOf([tag(2, 'tag'), tag(3, 'Tag'), tag(4, 'tag__2')]), [
    'time',
    'tag',
    'Tag__3',
    'tag__2',
  ]);
  assert.deepEqual(namesOf([tag(2, 'time_ns')]), ['time', 'time_ns']);
  assert.deepEqual(namesOf([tag(2, 'time_ns')], 'jvm'), ['time_ns', 'time_ns__2']);
});
