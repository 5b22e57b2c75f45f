// Source: spec/tsdb-http.md, "Line protocol".
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { linesOfRows, newestRowsQuery } from './plugin-input.js';

const COLUMNS = [
  { name: 'time', kind: 'time' },
  { name: 'host', kind: 'tag' },
  { name: 'usage', kind: 'float64' },
  { name: 'n', kind: 'int64' },
  { name: 'Note', kind: 'utf8' },
];

it('reads the newest rows with all digits', () => {
  assert.equal(
    newestRowsQuery('my table', COLUMNS, 5),
    'SELECT CAST(CAST(time AS BIGINT) AS VARCHAR) AS time, host, usage, CAST(n AS VARCHAR) AS n, "Note" FROM "my table" ORDER BY time DESC LIMIT 5',
  );
});

it('formats rows as line protocol, oldest first', () => {
  const rows = [
    { time: '2', host: 'b', usage: 2, n: '9007199254740993', Note: 'say "a, b"' },
    { time: '1', host: 'a b', usage: 1.5, n: null, Note: null },
  ];
  assert.equal(
    linesOfRows('my table', COLUMNS, rows),
    'my\\ table,host=a\\ b usage=1.5 1\n' +
      'my\\ table,host=b usage=2,n=9007199254740993i,Note="say \\"a, b\\"" 2',
  );
});
