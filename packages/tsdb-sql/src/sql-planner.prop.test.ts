import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { caseCount } from '@plinth/kernel/testing';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import fc from 'fast-check';
import { SqlBench } from './testing/sql-bench.js';

const CASES = join(import.meta.dirname, '../../tsdb/test/queries');
const TOKEN = /'(?:[^']|'')*'|"(?:[^"]|"")*"|\w+|::|[^\s\w]/g;

/** Returns the queries of the case files, split into tokens. */
function readQueries(): readonly (readonly string[])[] {
  return readdirSync(CASES)
    .filter((name) => name.endsWith('.sql'))
    .flatMap((name) =>
      readFileSync(join(CASES, name), 'utf8')
        .replace(/^--.*$/gm, '')
        .split(';\n'),
    )
    .map((text) => text.match(TOKEN) ?? [])
    .filter((tokens) => tokens.length > 0);
}

describe('any text', () => {
  const queries = readQueries();
  const token = fc.constantFrom(
    ...new Set(queries.flat()),
    ...['__proto__', 'constructor', '"toString"', 'GROUP BY ALL', 'OVER ()', '$1', '\u0000', '😀'],
  );
  let bench: SqlBench;
  before(async () => {
    bench = await SqlBench.open({
      cpu: { columns: { time: 'time', host: 'tag', usage: 'float64', n: 'int64' }, rows: [] },
    });
  });
  after(() => bench.close());

  const isPlannedOrRefused = (text: string) => {
    try {
      bench.duckDbText(bench.plan(text));
    } catch (error) {
      // Functions of constants may fail at plan time as they would at run time.
      const isExpected = tsdbError.is(error, 'plan_error', 'not_implemented', 'execution_error');
      assert.ok(isExpected, `${text}\n${error}`);
    }
  };

  it('is planned or rejected: tokens in any order', () => {
    fc.assert(
      fc.property(fc.array(token, { maxLength: 25 }), (tokens) =>
        isPlannedOrRefused(`SELECT ${tokens.join(' ')}`),
      ),
      { numRuns: caseCount(1_000) },
    );
  });

  it('is planned or rejected: queries with some tokens exchanged', () => {
    const change = fc.record({ place: fc.nat(), removed: fc.nat({ max: 2 }), token });
    fc.assert(
      fc.property(
        fc.constantFrom(...queries),
        fc.array(change, { minLength: 1, maxLength: 3 }),
        (query, changes) => {
          const tokens = [...query];
          for (const { place, removed, token: inserted } of changes) {
            tokens.splice(place % (tokens.length + 1), removed, inserted);
          }
          isPlannedOrRefused(tokens.join(' '));
        },
      ),
      { numRuns: caseCount(2_000) },
    );
  });
});
