// Source: tsdb-http, section 5 (line protocol).
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { checkLines } from './check-lines.js';

const right = (text: string, lineCount: number, tables: readonly string[]) =>
  assert.deepEqual(checkLines(text), { lineCount, problems: [], tables }, text);
const wrong = (text: string, line: number, column: number) => {
  const [problem] = checkLines(text).problems;
  assert.deepEqual(
    [problem?.line, problem?.column],
    [line, column],
    `${text}: ${problem?.message}`,
  );
};

describe('Lines that are typed', () => {
  it('are right when the server takes them', () => {
    right('cpu,host=a usage=1.5 1700000000', 1, ['cpu']);
    right('cpu usage=1\n\n# a remark\nmem free=3i,used=4u', 2, ['cpu', 'mem']);
    right('m s="text, with = and\nline breaks",t=true,f=F -5', 1, ['m']);
    right('my\\ table,a\\,b=c\\ d v=-1e9', 1, ['my table']);
    right('m s="a \\" quote"', 1, ['m']);
  });

  it('are marked where they are wrong', () => {
    wrong('cpu', 1, 4);
    wrong('ok v=1\ncpu,host usage=1', 2, 9);
    wrong('cpu,host= usage=1', 1, 10);
    wrong('cpu usage', 1, 10);
    wrong('cpu usage=abc', 1, 11);
    wrong('cpu usage="open', 1, 11);
    wrong('cpu usage=1 noon', 1, 13);
  });
});
