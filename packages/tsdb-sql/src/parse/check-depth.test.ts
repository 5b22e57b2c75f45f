import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { StatementParser } from './parse-statement.js';
import { PLANNER_THREAD_LIMITS, PlanningLimitExceeded } from './planning-limits.js';

describe('statement size checks', () => {
  let parser: StatementParser;
  const parse = (text: string) => parser.parse(text, PLANNER_THREAD_LIMITS);
  before(async () => {
    parser = await StatementParser.load({ maxCachedCount: 4 });
  });

  const deep: Readonly<Record<string, string>> = {
    sums: `SELECT ${'1+'.repeat(20_000)}1`,
    casts: `SELECT 1${'::int'.repeat(5_000)}`,
    tests: `SELECT 1${' IS NULL'.repeat(5_000)}`,
    zones: `SELECT 1${" AT TIME ZONE 'x'".repeat(5_000)}`,
    brackets: `SELECT ${'('.repeat(5_000)}1${')'.repeat(5_000)}`,
    signs: `SELECT ${'- '.repeat(5_000)}1`,
    negations: `SELECT ${'NOT '.repeat(5_000)}true`,
    'differing set operators': `SELECT 1${' UNION SELECT 1 UNION ALL SELECT 1'.repeat(5_000)}`,
    cases: `SELECT ${'CASE WHEN true THEN '.repeat(2_000)}1${' END'.repeat(2_000)}`,
    'sums within strings': `SELECT ''${"||'+'".repeat(5_000)}`,
    'sums after a comment': `SELECT /* ' */ ${'1+'.repeat(5_000)}1`,
  };
  for (const [what, text] of Object.entries(deep)) {
    it(`reject without harm to the parser: ${what}`, () => {
      assert.throws(() => parse(text));
      assert.ok(parse('SELECT 1'));
    });
  }

  it('reject a statement that lists too many values', () => {
    const listing = (count: number) => `SELECT a FROM t WHERE a IN (${'1,'.repeat(count)}1)`;
    // Without fuel the parser stops at its first call.
    const limits = { ...PLANNER_THREAD_LIMITS, parserFuel: 1 };
    assert.throws(() => parser.parse(listing(100_001), limits), /lists more than 100000 values/);
    assert.throws(() => parser.parse(listing(100_000), limits), PlanningLimitExceeded);
    const text = `SELECT '${','.repeat(100_001)}'`;
    assert.ok(parse(text));
  });

  it('reject a statement that unites or joins too many queries', () => {
    const limits = { ...PLANNER_THREAD_LIMITS, parserFuel: 1 };
    for (const repeated of [' UNION SELECT 1', ' UNION ALL SELECT 1', ' JOIN t ON a']) {
      const text = (count: number) => `SELECT 1 FROM t${repeated.repeat(count)}`;
      const expected = /has more than 10000 UNION, JOIN and WITH keywords; split it/;
      assert.throws(() => parser.parse(text(10_001), limits), expected);
      assert.throws(() => parser.parse(text(10_000), limits), PlanningLimitExceeded);
    }
  });

  it('accept a long but shallow statement', () => {
    const list = Array.from({ length: 5_000 }, (_, index) => `'host_${index}'`).join(', ');
    assert.ok(parse(`SELECT a FROM t WHERE a IN (${list}) AND b = 1`));
    for (const word of ['OR', 'AND']) {
      const conditions = Array.from({ length: 10_000 }, (_, index) => `a = 'b${index}'`);
      assert.ok(parse(`SELECT 1 WHERE ${conditions.join(` ${word} `)}`));
    }
    assert.ok(parse(`SELECT 1${' UNION ALL SELECT 1'.repeat(5_000)}`));
    const columns = Array.from({ length: 1_000 }, (_, index) => `a + ${index} AS c${index}`);
    assert.ok(parse(`SELECT ${columns.join(', ')} FROM t`));
    const either = Array.from({ length: 200 }, (_, index) => `(a = '${index}' AND b > ${index})`);
    assert.ok(parse(`SELECT a FROM t WHERE ${either.join(' OR ')}`));
  });
});
