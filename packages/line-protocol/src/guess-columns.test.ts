import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readCsvHead } from './guess-columns.js';

async function* piecesOf(text: string) {
  yield new TextEncoder().encode(text);
}
const guess = async (text: string, maxRowCount = 1000): Promise<Record<string, string>> => {
  const { columns } = await readCsvHead(piecesOf(text), maxRowCount);
  return Object.fromEntries(
    columns.map(({ name, role, type }) => [name, role === 'field' ? type : role]),
  );
};

describe('readCsvHead', () => {
  it('guesses the role and type of each column', async () => {
    assert.deepEqual(
      await guess(
        '\uFEFFdate,host,usage,cores,id,up,note,nothing\n' +
          '2024-12-30,a,1.5,8,9223372036854775808,true,"a\nb",\n' +
          '2024-12-31,b,-2e3,4,1,FALSE,c,\n',
      ),
      {
        date: 'time',
        host: 'tag',
        usage: 'float',
        cores: 'int',
        id: 'uint',
        up: 'bool',
        note: 'string',
        nothing: 'out',
      },
    );
  });

  it('finds the time column by its values and name', async () => {
    assert.deepEqual(await guess('n,when\n1,2024-12-30T08:00:00Z\n'), { n: 'int', when: 'time' });
    assert.deepEqual(await guess('n,Timestamp\n1,1735549200\n'), { n: 'int', Timestamp: 'time' });
    assert.deepEqual(await guess('n,created_at\n1,1735549200\n'), { n: 'int', created_at: 'time' });
    assert.deepEqual(await guess('born,time\n1950-01-01,2024-12-30\n'), {
      born: 'string',
      time: 'time',
    });
    assert.deepEqual(await guess('n,time\n1,soon\n'), { n: 'int', time: 'tag' });
    assert.deepEqual(await guess('a,b\n1,2\n'), { a: 'int', b: 'int' });
  });

  it('accepts a column with a time name when some of its values are dates', async () => {
    const { columns } = await readCsvHead(piecesOf('time,v\n2024-12-30,1\nyesterday,2\n'), 1000);
    assert.deepEqual(
      columns.map(({ role }) => role),
      ['time', 'field'],
    );
  });

  it('reports the first invalid time in a column with a time name', async () => {
    const head = await readCsvHead(
      piecesOf('Time,n\n,1\n2024-12-30,2\n20/11/2015 08:00,3\n21/11/2015,4\n'),
      1000,
    );
    assert.deepEqual(
      head.columns.map(({ notTime }) => notTime),
      [{ line: 4, text: '20/11/2015 08:00' }, undefined],
    );
  });

  it('detects number columns with decimal commas', async () => {
    const rows = 'a;b;c;d;e\n1,5;1,5;1.5;1,5;1\n-2,25;2;2,5x;;2\n';
    const { columns } = await readCsvHead(piecesOf(rows), 1000);
    assert.deepEqual(
      columns.map(({ hasDecimalCommas = false }) => hasDecimalCommas),
      [true, true, false, true, false],
    );
  });

  it('detects the separator', async () => {
    const separatorOf = async (text: string) => (await readCsvHead(piecesOf(text), 1)).separator;
    assert.equal(await separatorOf('a;b;c\n1,5;2,5;3,5\n'), ';');
    assert.equal(await separatorOf('\uFEFF\r\n"a,b,c"\tb\n1\t2\n'), '\t');
    assert.equal(await separatorOf('a,b;c\n'), ',');
    assert.equal(await separatorOf('a\n1;2\n'), ',');
    assert.equal(await separatorOf('"a\n;;",b,c'), ',');
  });

  it('classifies a string column with many values as a field', async () => {
    const rows = (count: number, values: number) =>
      `text\n${Array.from({ length: count }, (_, i) => `v${i % values}`).join('\n')}\n`;
    assert.deepEqual(await guess(rows(30, 20)), { text: 'tag' });
    assert.deepEqual(await guess(rows(30, 21)), { text: 'string' });
    assert.deepEqual(await guess(rows(210, 21)), { text: 'tag' });
    assert.deepEqual(await guess(rows(209, 21)), { text: 'string' });
    assert.deepEqual(await guess(`text\n${'x'.repeat(101)}\n`), { text: 'string' });
  });

  it('decides types by the majority of the values', async () => {
    const rows = (good: string, count: number) => `c\n${`${good}\n`.repeat(count)}N/A\n`;
    assert.deepEqual(await guess(rows('1', 9)), { c: 'int' });
    assert.deepEqual(await guess(rows('1', 8)), { c: 'tag' });
    assert.deepEqual(await guess(rows('2024-12-30', 9)), { c: 'time' });
    assert.deepEqual(await guess(rows('2024-12-30', 8)), { c: 'tag' });
  });

  it('stops after the requested rows and omits columns without a unique name', async () => {
    const head = await readCsvHead(piecesOf('a,,a,b\n1,2,3,4\nx,y,z,0\n'), 1);
    assert.deepEqual(head, {
      columns: [
        { name: 'a', role: 'field', type: 'int', examples: ['1'] },
        { name: 'b', role: 'field', type: 'int', examples: ['4'] },
      ],
      namelessCount: 2,
      rowCount: 1,
      separator: ',',
    });
    assert.deepEqual(await readCsvHead(piecesOf(''), 1), {
      columns: [],
      namelessCount: 0,
      rowCount: 0,
      separator: ',',
    });
  });

  it('returns a few example values and truncates long ones', async () => {
    const { columns } = await readCsvHead(piecesOf(`a\n1\n1\n2\n3\n4\n`), 1000);
    assert.deepEqual(columns[0]?.examples, ['1', '2', '3']);
    const long = await readCsvHead(piecesOf(`a\n${'x'.repeat(41)}\n`), 1000);
    assert.deepEqual(long.columns[0]?.examples, [`${'x'.repeat(40)}…`]);
  });
});
