import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { caseCount } from '@plinth/kernel/testing';
import type { Column } from '@plinth/tsdb-model/columns/column.js';
import type { DatabaseSchema, TableSchema } from '@plinth/tsdb-model/schema.js';
import fc from 'fast-check';
import type { SelectStatement } from '../../ast/select.js';
import { parseQuery } from '../../parse/parse-query.js';
import { loadRegexes } from '../condition/regex.js';
import type { Environment } from '../environment.js';
import { compileSelect } from './compile-select.js';
import type { CompiledSelect } from './compiled-select.js';
import { expandSelect } from './expand-select.js';
import { PlanEffort } from './plan-effort.js';
import { PreparedSelects } from './prepared-selects.js';

const KINDS = {
  time: 'time',
  host: 'tag',
  region: 'tag',
  i: 'int64',
  f: 'float64',
  s: 'utf8',
} as const;

function tableOf(version: number, extra: readonly string[] = []): TableSchema {
  const columns = Object.entries({
    ...KINDS,
    ...Object.fromEntries(extra.map((name) => [name, 'int64' as const])),
  }).map(([name, kind], id): [string, Column] => [name, { id, name, kind, physicalName: name }]);
  return {
    id: 1,
    uuid: 'u',
    databaseId: 1,
    name: 't',
    columns: new Map(columns),
    seriesKey: ['host', 'region'],
    seriesSeed: 0n,
    version,
  };
}

function environment(nowNs: bigint, table: TableSchema): Environment {
  const database: DatabaseSchema = {
    id: 1,
    uuid: 'd',
    name: 'd',
    retentionNs: undefined,
    tables: new Map([['t', table]]),
  };
  return {
    nowNs,
    database: 'd',
    policy: undefined,
    lookbackNs: 0n,
    usesDefaultPolicies: true,
    databaseOf: (name) => (name === 'd' ? database : undefined),
    effort: new PlanEffort({ mayHaveRegexes: false }),
  };
}

type Outcome = { readonly select: CompiledSelect } | { readonly failure: string };

const attempt = (work: () => CompiledSelect): Outcome => {
  try {
    return { select: work() };
  } catch (error) {
    return { failure: String(error) };
  }
};

const compiledAnew = (text: string, env: Environment): Outcome =>
  attempt(() => {
    const [statement] = parseQuery(text);
    return compileSelect(expandSelect(statement as SelectStatement, env), env);
  });

let knownCount = 0;

/** Compiles a text in the same way as a request. */
const compiledByShape = (selects: PreparedSelects, text: string, env: Environment): Outcome =>
  attempt(() => {
    const read = selects.read(text, { scope: '', parse: (each) => parseQuery(each) });
    assert.deepEqual(read.statements, parseQuery(text));
    const known = read.compiled(env);
    if (known !== undefined) {
      knownCount++;
      return known;
    }
    const [statement] = read.statements;
    const select = compileSelect(expandSelect(statement as SelectStatement, env), env);
    read.remember(select);
    return select;
  });

/** Number of queries generated per shape. */
const VARIANTS = 5;
const variants = (arb: fc.Arbitrary<string>): fc.Arbitrary<readonly string[]> =>
  fc.array(arb, { minLength: VARIANTS, maxLength: VARIANTS });

const secondsArb = fc.integer({ min: 1_600_000_000, max: 1_900_000_000 });
const isoArb = secondsArb.map((seconds) => new Date(seconds * 1000).toISOString());
const instantsArb = fc.oneof(
  variants(isoArb.map((iso) => `'${iso}'`)),
  variants(isoArb.map((iso) => `'${iso.slice(0, 10)}'`)),
  variants(isoArb.map((iso) => `'${iso}' - 1d`)),
  fc
    .constantFrom(
      ...['s', '000ms', '000000u', '000000us', '000000000ns', '000000000'],
      // Too large to lift, or not ten digits with a liftable unit.
      ...['99999999999999', '9999999999', '000000000s', '000m', '.5'],
    )
    .chain((end) => variants(secondsArb.map((seconds) => `${seconds}${end}`))),
  variants(secondsArb.map((seconds) => `-${seconds}s`)),
  variants(fc.constantFrom('now()', 'now() - 6h', '0', '1h')),
  variants(fc.constantFrom("'2024-02-30'", "'soon'", "''", "'2024-02-28'")),
);
const valuesArb = fc.oneof(
  variants(fc.constantFrom("'a'", "'é'", "'1000000007'", "'\u00010'", "''")),
  variants(fc.string({ maxLength: 4 }).map((text) => `'${text.replaceAll(/['\\$]/g, '')}'`)),
  variants(fc.constantFrom("'a' + 'b'", "'' + 'c'")),
  variants(fc.constantFrom('4', '1000000007', '1.5')),
);
const conditionsArb: fc.Arbitrary<readonly string[]> = fc.oneof(
  fc
    .tuple(fc.constantFrom('>', '>=', '<', '<=', '=', '!='), instantsArb)
    .map(([op, instants]) => instants.map((instant) => `time ${op} ${instant}`)),
  fc
    .tuple(
      fc.constantFrom('host', '"region"', 'f', 's', 'nothing'),
      fc.constantFrom('=', '!='),
      valuesArb,
    )
    .map(([name, op, values]) => values.map((value) => `${name} ${op} ${value}`)),
  fc
    .constantFrom(
      "'a' = host",
      'host =~ /1000000007|it.s/',
      'i / 2 > 1',
      "'x'",
      "date_part('dow', time) = 0",
      "(host = 'a' OR host = 'b')",
    )
    .map((condition) => Array.from({ length: VARIANTS }, () => condition)),
);
/** Prefers the values that make a text cacheable. */
const one = (first: string, ...others: string[]): fc.Arbitrary<string> =>
  fc.oneof({ arbitrary: fc.constant(first), weight: others.length }, fc.constantFrom(...others));
const textsArb = fc
  .record({
    list: one('max(i)', '*', 'max(i) AS "a 1000000007"', 'f, host', "'x', i", 'nothing'),
    from: one('t', '"t"', 'd..t', '/t/', '(SELECT i FROM t)', 'none', 't, t'),
    where: fc.array(conditionsArb, { minLength: 1, maxLength: 3 }),
    joint: fc.constantFrom(' AND ', ' OR '),
    group: one(
      ' GROUP BY time(1m)',
      '',
      ' GROUP BY host',
      ' GROUP BY time(1m, now())',
      ' GROUP BY *',
    ),
    end: one(
      '',
      ' LIMIT 1',
      ' LIMIT 1000000007',
      " tz('Europe/Berlin')",
      " tz('No')",
      '; SELECT i FROM t',
      ' -- x',
    ),
  })
  .map(({ list, from, where, joint, group, end }) =>
    Array.from({ length: VARIANTS }, (_, i) => {
      const condition = where.map((each) => each[i]).join(joint);
      return `SELECT ${list} FROM ${from} WHERE ${condition}${group}${end}`;
    }),
  );

describe('cached SELECTs', () => {
  before(() => loadRegexes('/'));

  it('compile to the same result as parsed ones, or fail alike', () => {
    fc.assert(
      fc.property(
        fc.array(textsArb, { minLength: 1, maxLength: 8 }),
        fc.bigInt(0n, 2n ** 62n),
        (shapes, nowNs) => {
          const selects = new PreparedSelects({ maxCount: 6 });
          const table = tableOf(1);
          for (let variant = 0; variant < VARIANTS; variant++) {
            const env = environment(nowNs + BigInt(variant), table);
            for (const texts of shapes) {
              const text = texts[variant] as string;
              assert.deepEqual(compiledByShape(selects, text, env), compiledAnew(text, env), text);
            }
          }
        },
      ),
      { numRuns: caseCount(300) },
    );
    assert.ok(knownCount > caseCount(300), `only ${knownCount} were remembered`);
  });

  it('use new values, new times and new columns', () => {
    const selects = new PreparedSelects({ maxCount: 5 });
    const texts = ['a', 'b', 'c'].flatMap((host, i) => [
      `SELECT * FROM t WHERE host = '${host}' AND time > ${1_700_000_000_000 + i}ms`,
      `SELECT max(i) FROM t WHERE host = '${host}' AND time > now() - 1h GROUP BY time(1m)`,
    ]);
    for (const [i, table] of [tableOf(1), tableOf(2, ['g'])].entries()) {
      for (const text of texts) {
        const env = environment(BigInt(i) * 1_000_000_000n, table);
        assert.deepEqual(compiledByShape(selects, text, env), compiledAnew(text, env), text);
      }
    }
  });
});
