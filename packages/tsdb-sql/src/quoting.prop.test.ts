import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { isDomainError } from '@plinth/kernel';
import { caseCount } from '@plinth/kernel/testing';
import fc from 'fast-check';
import { SqlBench } from './testing/sql-bench.js';

/** Strings of characters that end, open or escape something in either language. */
const hostile = fc.oneof(
  fc.string({
    unit: fc.constantFrom("'", '"', '\\', ';', '-', '/', '*', '\0', '\n', '$', 'a', '0', '(', ')'),
  }),
  fc.string({ unit: 'binary' }),
);

describe('user input stays text', () => {
  let bench: SqlBench;
  before(async () => {
    bench = await SqlBench.open({ m: { columns: { time: 'time' }, rows: [['0']] } });
  });
  after(() => bench.close());

  // The DuckDB binding that reads these rows drops a leading byte order mark.
  const isWellFormed = (text: string) =>
    Buffer.from(text, 'utf8').toString('utf8') === text && !text.startsWith('\ufeff');

  it('as a parameter', async () => {
    await fc.assert(
      fc.asyncProperty(hostile.filter(isWellFormed), async (text) => {
        assert.deepEqual(await bench.rows('SELECT $p AS x FROM m', { p: text }), [text]);
      }),
      { numRuns: caseCount(100) },
    );
  });

  it('as a string literal', async () => {
    await fc.assert(
      fc.asyncProperty(hostile.filter(isWellFormed), async (text) => {
        const literal = `'${text.replaceAll("'", "''")}'`;
        assert.deepEqual(await bench.rows(`SELECT ${literal} AS x FROM m`), [text]);
      }),
      { numRuns: caseCount(100) },
    );
  });

  it('as a function argument, also in a virtual table', async () => {
    const statements: Readonly<Record<string, string>> = {
      "regexp_replace('x', $0, 'y')": 'x',
      "regexp_replace('x', 'x', $0)": '',
      "regexp_like('x', $0)": 'false',
      "regexp_match('x', $0)": '',
      "regexp_count('x', $0)": '0',
      "regexp_instr('x', $0)": '0',
      "string_agg('x', $0)": 'x',
      "to_char(TIMESTAMP '2020-01-01T00:00:00', $0)": '',
      'named_struct($0, 1)[$0]': '',
      "arrow_cast(named_struct($0, 1), 'Utf8')": '',
      'struct(1)[$0]': '',
      'CAST(named_struct($0, 1) AS VARCHAR)': '',
      "date_bin(INTERVAL '1 day', to_local_time(time AT TIME ZONE $0))": '',
      'time AT TIME ZONE $0': '',
      "'x' LIKE $0": 'false',
      "'x' SIMILAR TO $0": 'false',
      "'x' ~ $0": 'false',
      "translate('x', $0, '')": 'x',
      "strpos('x', $0)": '0',
      "encode($0, 'hex')": '',
      "digest('x', $0)": '',
      'date_part($0, time)': '',
      "to_timestamp('x', $0)": '',
      "string_to_array('x', $0)": '',
      "concat_ws($0, 'x')": 'x',
    };
    for (const mark of [`\u{0}0\u{0}`, 'a\0', "\0producers\0'", "\0'; SELECT 1; --", "'\0"]) {
      const literal = `'${mark.replaceAll("'", "''")}'`;
      for (const [statement, expected] of Object.entries(statements)) {
        const text = `SELECT ${statement.replaceAll('$0', () => literal)} AS x FROM m WHERE time >= 0`;
        const result = await bench.rows(text).catch((error: unknown) => {
          assert.ok(isDomainError(error), `${JSON.stringify(text)}: ${String(error)}`);
          return undefined;
        });
        if (result === undefined || expected === '') continue;
        assert.deepEqual(result, [expected], JSON.stringify(text));
      }
    }
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
      { numRuns: caseCount(100) },
    );
  });
});
