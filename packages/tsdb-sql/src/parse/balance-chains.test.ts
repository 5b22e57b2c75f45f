import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { balanceChains } from './balance-chains.js';

const chain = (operator: string, count: number, from = 0): string =>
  Array.from({ length: count }, (_, index) => `a = ${index + from}`).join(` ${operator} `);

/** Returns the maximum nesting depth of parentheses. */
function depthOf(text: string): number {
  let depth = 0;
  let greatest = 0;
  for (const letter of text) {
    if (letter === '(') depth++;
    if (letter === ')') depth--;
    greatest = Math.max(greatest, depth);
  }
  assert.equal(depth, 0);
  return greatest;
}

const withoutBrackets = (text: string): string => text.replaceAll(/[()]/g, '');

describe('long chains', () => {
  it('are nested in parentheses, without other changes', () => {
    for (const operator of ['OR', 'AND']) {
      const text = `SELECT 1 FROM t WHERE ${chain(operator, 5_000)} GROUP BY b`;
      const balanced = balanceChains(text);
      assert.equal(withoutBrackets(balanced), text);
      assert.equal(depthOf(balanced), 2);
    }
    const union = Array.from({ length: 200 }, () => 'SELECT 1').join(' UNION ALL ');
    assert.equal(withoutBrackets(balanceChains(union)), union);
    assert.equal(depthOf(balanceChains(union)), 1);
  });

  it('keep tighter operators together and their ends outside', () => {
    const middle = Array.from({ length: 120 }, () => 'NOT b AND c BETWEEN 1 AND 2').join(' OR ');
    const balanced = balanceChains(`SELECT NOT a OR ${middle} OR z AS x, d AND e`);
    assert.match(balanced, /^SELECT NOT a OR\( NOT b AND c BETWEEN 1 AND 2 OR /);
    assert.match(balanced, / \)OR z AS x, d AND e$/);
    const ands = `SELECT a OR ${Array.from({ length: 120 }, () => 'c BETWEEN 1 AND 2').join(' AND ')} OR b`;
    assert.equal(withoutBrackets(balanceChains(ands)), ands);
    assert.doesNotMatch(balanceChains(ands), /BETWEEN 1 \)?AND\(/);
  });

  it('are unchanged if short, in strings, of mixed operators or in ambiguous syntax', () => {
    const same = (text: string) => assert.equal(balanceChains(text), text);
    same(`SELECT ${chain('OR', 99)}`);
    same(`SELECT '${chain('OR', 500)}'`);
    same(`SELECT 1 ${'UNION SELECT 1 UNION ALL SELECT 1 '.repeat(100)}`);
    same(`SELECT 1 ${'EXCEPT SELECT 1 '.repeat(200)}`);
    same(`SELECT /* /* */ ' */ ${chain('OR', 500)}`);
    same(`SELECT $$ ${chain('OR', 500)} $$`);
    same(`SELECT E'\\' OR ' || (${chain('OR', 500)}`);
    same(`SELECT (${chain('OR', 500)}`);
  });
});
