import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { caseCount, temporaryFolder } from '@plinth/kernel/testing';
import fc from 'fast-check';
import type { OpenTsdb } from '#src/service.js';
import { openTestNode } from '#src/testing/open-test-node.js';
import { query, writeLines } from '#src/testing/write-and-query.js';

describe('LIKE and ILIKE', () => {
  let dataDir: string;
  let node: OpenTsdb;
  before(async () => {
    dataDir = await temporaryFolder();
    node = await openTestNode(dataDir);
    await writeLines(node, ['t v=1 1']);
  });
  after(() => node.close());

  const chars = fc.constantFrom(..."%%%__\\\\!aaabBäÄ.*[(^$ \n😀'");
  const texts = fc.string({ unit: chars, maxLength: 8 });

  it('match the same strings as a backtracking matcher', async () => {
    await fc.assert(
      fc.asyncProperty(texts, texts, async (text, pattern) => {
        const literal = `'${pattern.replaceAll("'", "''")}'`;
        const ways = ['', '\\', '!'].flatMap((escapeChar) =>
          [false, true].flatMap((ignoresCase) =>
            [literal, 'p'].map((shown) => {
              const keyword = ignoresCase ? 'ILIKE' : 'LIKE';
              return {
                sql: `s ${keyword} ${shown} ESCAPE '${escapeChar}'`,
                found: finds(text, pattern, { escapeChar, ignoresCase }),
              };
            }),
          ),
        );
        const columns = ways.flatMap(({ sql }, i) => [`${sql} AS a${i}`, `NOT (${sql}) AS b${i}`]);
        const value = text.replaceAll("'", "''");
        const rows = await query(
          node,
          `SELECT ${columns.join(', ')} FROM (VALUES ('${value}', ${literal})) AS v(s, p)`,
        );
        const expected = ways.flatMap(({ found }) => [found, !found]);
        assert.deepEqual(rows.at(-1)?.match(/true|false/g), expected.map(String), literal);
      }),
      { numRuns: caseCount(150) },
    );
  });

  it('return NULL for a NULL string or pattern', async () => {
    const rows = await query(
      node,
      "SELECT (s LIKE p) IS NULL AS a, (p LIKE s) IS NULL AS b, (s LIKE NULL) IS NULL AS c, (p LIKE '%a_') IS NULL AS d, (p LIKE '%a') IS NULL AS e FROM (VALUES ('a', CAST(NULL AS VARCHAR))) AS v(s, p)",
    );
    assert.deepEqual(rows.at(-1)?.match(/true|false/g), Array(5).fill('true'));
  });
});

function finds(
  text: string,
  pattern: string,
  { escapeChar, ignoresCase }: { readonly escapeChar: string; readonly ignoresCase: boolean },
): boolean {
  const of = (whole: string): string[] => [...(ignoresCase ? whole.toLowerCase() : whole)];
  const [s, p] = [of(text), of(pattern)];
  const at = (i: number, j: number): boolean => {
    const char = p[j];
    if (char === undefined) return i === s.length;
    if (char === escapeChar) return s[i] === (p[j + 1] ?? char) && i < s.length && at(i + 1, j + 2);
    if (char === '%') return at(i, j + 1) || (i < s.length && at(i + 1, j));
    return i < s.length && (char === '_' || s[i] === char) && at(i + 1, j + 1);
  };
  return at(0, 0);
}
