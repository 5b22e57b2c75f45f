import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { SqlBench } from './testing/sql-bench.js';

/** Texts of the characters that end, open or escape something in either language. */
const hostile = fc.oneof(
  fc.string({
    unit: fc.constantFrom("'", '"', '\\', ';', '-', '/', '*', '\0', '\n', '$', 'a', '0', '(', ')'),
  }),
  fc.string({ unit: 'binary' }),
);

describe('what users write stays text', () => {
  let bench: SqlBench;
  before(async () => {
    bench = await SqlBench.open({ m: { columns: { time: 'time' }, rows: [['0']] } });
  });
  after(() => bench.close());

  // The binding, by which these rows are read, drops a mark of byte order at the beginning.
  const isWellFormed = (text: string) =>
    Buffer.from(text, 'utf8').toString('utf8') === text && !text.startsWith('\ufeff');

  it('as a parameter', async () => {
    await fc.assert(
      fc.asyncProperty(hostile.filter(isWellFormed), async (text) => {
        assert.deepEqual(await bench.rows('SELECT $p AS x FROM m', { p: text }), [text]);
      }),
      { numRuns: 100 },
    );
  });

  it('as a string literal', async () => {
    await fc.assert(
      fc.asyncProperty(hostile.filter(isWellFormed), async (text) => {
        const literal = `'${text.replaceAll("'", "''")}'`;
        assert.deepEqual(await bench.rows(`SELECT ${literal} AS x FROM m`), [text]);
      }),
      { numRuns: 100 },
    );
  });

  it('as a name', async () => {
    await fc.assert(
      fc.asyncProperty(
        hostile.filter((text) => text !== '' && isWellFormed(text)),
        async (name) => {
          const quoted = `"${name.replaceAll('"', '""')}"`;
          const text = `WITH ${quoted} AS (SELECT 1 AS ${quoted}) SELECT ${quoted}.${quoted} FROM ${quoted}`;
          assert.deepEqual(await bench.rows(text), ['1']);
          assert.equal(bench.plan(text).columns[0]?.name, name);
        },
      ),
      { numRuns: 100 },
    );
  });
});
