import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { checkLines, type TableShape } from '@plinth/line-protocol';
import { schemaChange } from './schema-change.js';

const shapeOf = (line: string): TableShape => checkLines(line).tables[0] as TableShape;
const KNOWN = [
  { name: 'host', kind: 'tag' },
  { name: 'time', kind: 'time' },
  { name: 'usage', kind: 'float64' },
];
const check = (line: string, what: string, conflicts: readonly string[] = [], known = KNOWN) =>
  assert.deepEqual(schemaChange(shapeOf(line), known), { what, conflicts });

describe('The schema change of a write', () => {
  it('describes a new table with its columns', () => {
    const { what } = schemaChange(shapeOf('cpu,host=a,room=b usage=1.5,n=1i'), undefined);
    assert.equal(what, 'New table cpu: tags host, room, fields usage (float), n (integer)');
    const { what: bare } = schemaChange(shapeOf('cpu up=t'), undefined);
    assert.equal(bare, 'New table cpu: field up (boolean)');
  });

  it('describes new columns', () => {
    check('cpu,host=a usage=1', 'cpu already has these columns');
    check('cpu,host=a x=1i', '1 new column in cpu: x (integer)');
    check(
      'cpu,room=a x=1u,s="t"',
      '3 new columns in cpu: room (tag), x (unsigned integer), s (text)',
    );
    const many = Array.from({ length: 14 }, (_, i) => `f${i}=1`).join(',');
    assert.match(schemaChange(shapeOf(`cpu ${many}`), KNOWN).what, /, f11 \(float\) and 2 more$/);
  });

  it('reports columns with conflicting types', () => {
    check('cpu,host=a usage=1i', '', [
      "Column 'usage' of table 'cpu' has the type float, not integer: the server rejects such rows",
    ]);
    check('cpu,usage=a host=1', '', [
      "Column 'usage' of table 'cpu' has the type float, not tag: the server rejects such rows",
      "Column 'host' of table 'cpu' has the type tag, not float: the server rejects such rows",
    ]);
    const ofCsv = { table: 'm', tags: [], fields: new Map([['time', 'int']] as const) };
    assert.deepEqual(schemaChange(ofCsv, undefined).conflicts, [
      "The column name 'time' is reserved for the timestamp: the server rejects such rows",
    ]);
  });
});
