// Source: tsdb-http, section 5 (line protocol).
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { checkLines } from './check-lines.js';

const right = (text: string, lineCount: number, tables: readonly string[]) => {
  const check = checkLines(text);
  assert.deepEqual(check.problems, [], text);
  assert.equal(check.lineCount, lineCount, text);
  assert.deepEqual(
    check.tables.map(({ table }) => table),
    tables,
  );
};
const wrong = (text: string, line: number, column: number) => {
  const [problem] = checkLines(text).problems;
  assert.deepEqual(
    [problem?.line, problem?.column],
    [line, column],
    `${text}: ${problem?.message}`,
  );
};

describe('checkLines', () => {
  it('accepts the lines that the server accepts', () => {
    right('cpu,host=a usage=1.5 1700000000', 1, ['cpu']);
    right('cpu usage=1\n\n# a remark\nmem free=3i,used=4u', 2, ['cpu', 'mem']);
    right('m s="text, with = and\nline breaks",t=true,f=F -5', 1, ['m']);
    right('my\\ table,a\\,b=c\\ d v=-1e9', 1, ['my table']);
    right('m s="a \\" quote"', 1, ['m']);
    right('m v=1\r\n  m v=2 5 \r\n', 2, ['m']);
    right('m=x,a="q",b=x=y f=1', 1, ['m=x']);
    right('m,t="a f=1\nn f=2', 2, ['m', 'n']);
    right('m a,b=1 5', 1, ['m']);
    right('m a=1, 5\nm b=2u,', 2, ['m']);
    right('m f=9223372036854775807i,g=-9223372036854775808i,h=18446744073709551615u', 1, ['m']);
    right('m f=000000000000000000000000000012i', 1, ['m']);
    right('# "no text\nm f=1', 1, ['m']);
  });

  it('marks the position of the fault in an invalid line', () => {
    wrong('cpu', 1, 4);
    wrong(',a=b v=1', 1, 1);
    wrong('ok v=1\ncpu,host usage=1', 2, 9);
    wrong('cpu,host= usage=1', 1, 10);
    wrong('cpu usage', 1, 10);
    wrong('cpu usage=abc', 1, 11);
    wrong('cpu usage="open', 1, 11);
    wrong('cpu usage=1 noon', 1, 13);
    wrong('m s="two\nlines"\nm v=', 3, 5);
  });

  it('rejects values that the server does not read as numbers', () => {
    for (const value of ['+5', '.5', '5.', '1e', 'NaN', 'Inf', '-1u', 'tRUE', '1.5i']) {
      wrong(`m v=${value}`, 1, 5);
    }
    wrong('m v=9223372036854775808i', 1, 5);
    wrong('m v=-9223372036854775809i', 1, 5);
    wrong('m v=18446744073709551616u', 1, 5);
  });

  it('rejects a column used in two ways', () => {
    wrong('m,t=1,t=2 f=1', 1, 7);
    wrong('m f=1,f=2', 1, 7);
    wrong('m,a=1 a=2', 1, 7);
    wrong('m a=1\nm,a=1 b=2', 2, 3);
    wrong('m,a=1 b=2\nm a=1', 2, 3);
    wrong('m a=1i\nm a=1', 2, 5);
    wrong('m time=1', 1, 3);
    wrong('m,time=1 v=1', 1, 3);
    // A rejected line does not define columns for later lines.
    right('m a=1i', 1, ['m']);
    assert.equal(checkLines('m a=1i,b=x\nm a=1').problemCount, 1);
  });

  it('reports the columns that the lines create', () => {
    const { tables } = checkLines(
      'cpu,host=a usage=1.5,cores=8i 1\ncpu,host=b,my\\ tag=x up=t,name="n",id=7u 2\nbad v=',
    );
    assert.deepEqual(tables, [
      {
        table: 'cpu',
        tags: ['host', 'my tag'],
        fields: new Map([
          ['usage', 'float'],
          ['cores', 'int'],
          ['up', 'bool'],
          ['name', 'string'],
          ['id', 'uint'],
        ]),
      },
    ]);
  });

  it('counts every problem and lists them up to a limit', () => {
    const bad = checkLines('bad\n'.repeat(1000));
    assert.deepEqual([bad.problems.length, bad.problemCount, bad.lineCount], [20, 1000, 1000]);
    const many = checkLines(Array.from({ length: 100 }, (_, i) => `t${i} v=1`).join('\n'));
    assert.deepEqual([many.tables.length, many.tableCount], [20, 100]);
  });
});
