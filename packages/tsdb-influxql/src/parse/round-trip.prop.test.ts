import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { caseCount } from '@plinth/kernel/testing';
import { MAX_LOOKBACK_NS } from '@plinth/tsdb-model/text/lookback-hint.js';
import fc from 'fast-check';
import type { Expr } from '../ast/expressions.js';
import { printStatement } from '../ast/print.js';
import type { Fill, SelectStatement } from '../ast/select.js';
import { ParseError } from './parse-error.js';
import { parseQuery } from './parse-query.js';

const name = fc.oneof(
  fc.constantFrom('cpu', 'v', 'select', 'a b', 'q"q', 'back\\slash', 'ü', '1x', 'fill'),
  fc.string({ minLength: 1 }),
);
const cast = fc.constantFrom(
  'float',
  'integer',
  'unsigned',
  'string',
  'boolean',
  'tag',
  'field' as const,
);
const regex = fc
  .constantFrom('a', '^b.*/c$', '[x-z]+', '\\d')
  .map((source): Expr => ({ kind: 'regex', source }));

const reference: fc.Arbitrary<Expr> = fc
  .record({ name, cast: fc.option(cast, { nil: undefined }) })
  .map(
    ({ name: text, cast: type }): Expr =>
      ({ kind: 'var_ref', name: text, ...(type !== undefined && { cast: type }) }) as Expr,
  );

const literal: fc.Arbitrary<Expr> = fc.oneof(
  fc.string().map((value): Expr => ({ kind: 'string', value })),
  fc
    .bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
    .map((value): Expr => ({ kind: 'integer', value })),
  fc
    .bigInt({ min: 2n ** 63n, max: 2n ** 64n - 1n })
    .map((value): Expr => ({ kind: 'unsigned', value })),
  fc
    .double({ noNaN: true, noDefaultInfinity: true, min: -1e15, max: 1e15 })
    .map((value): Expr => ({ kind: 'number', value: value === 0 ? 0 : value })),
  fc.bigInt({ min: 0n, max: 2n ** 60n }).map((ns): Expr => ({ kind: 'duration', ns })),
  fc.boolean().map((value): Expr => ({ kind: 'boolean', value })),
  name.map((text): Expr => ({ kind: 'parameter', name: text })),
);

/**
 * Operands that contain an operator are parenthesized, so only the tree determines precedence.
 * Arguments of calls have parentheses only around operators, because the parser removes all others
 * there.
 */
const { arithmetic } = fc.letrec<{
  arithmetic: Expr;
  operand: Expr;
  call: Expr;
  argument: Expr;
  binary: Expr;
}>((tie) => ({
  operand: fc.oneof(
    { depthSize: 'small' },
    reference,
    literal,
    tie('call'),
    tie('arithmetic').map((inner): Expr => ({ kind: 'paren', inner: inner as Expr })),
  ),
  call: fc
    .record({
      name: fc.constantFrom('mean', 'top', 'abs'),
      args: fc.array(tie('argument'), { maxLength: 3 }),
    })
    .map(({ name: text, args }): Expr => ({ kind: 'call', name: text, args: args as Expr[] })),
  argument: fc.oneof(
    { depthSize: 'small' },
    reference,
    literal,
    tie('call'),
    tie('binary'),
    tie('binary').map((inner): Expr => ({ kind: 'paren', inner: inner as Expr })),
  ),
  binary: fc
    .record({
      op: fc.constantFrom('+', '-', '*', '/', '%', '&', '|', '^' as const),
      left: tie('operand'),
      right: tie('operand'),
    })
    .map(
      ({ op, left, right }): Expr => ({
        kind: 'binary',
        op: op as '+',
        left: left as Expr,
        right: right as Expr,
      }),
    ),
  arithmetic: fc.oneof({ depthSize: 'small' }, tie('operand'), tie('binary')),
}));

const comparison: fc.Arbitrary<Expr> = fc.oneof(
  fc
    .record({
      op: fc.constantFrom('=', '!=', '<', '<=', '>', '>='),
      left: arithmetic,
      right: arithmetic,
    })
    .map(({ op, left, right }): Expr => ({ kind: 'binary', op: op as '=', left, right })),
  fc
    .record({ op: fc.constantFrom('=~', '!~'), left: reference, right: regex })
    .map(({ op, left, right }): Expr => ({ kind: 'binary', op: op as '=~', left, right })),
);

const condition: fc.Arbitrary<Expr> = fc
  .record({
    op: fc.constantFrom('AND', 'OR'),
    parts: fc.array(comparison, { minLength: 1, maxLength: 2 }),
  })
  .map(
    ({ op, parts: [left, right] }): Expr =>
      right === undefined
        ? (left as Expr)
        : { kind: 'binary', op: op as 'AND', left: left as Expr, right },
  );

const fill: fc.Arbitrary<Fill> = fc.oneof(
  fc.constantFrom<Fill[]>(
    { kind: 'null' },
    { kind: 'none' },
    { kind: 'previous' },
    { kind: 'linear' },
  ),
  fc.bigInt({ min: -1000n, max: 1000n }).map((value): Fill => ({ kind: 'number', value })),
);

const select: fc.Arbitrary<SelectStatement> = fc
  .record(
    {
      fields: fc.array(
        fc.record(
          {
            expr: fc.oneof(arithmetic, fc.constant<Expr>({ kind: 'wildcard' }), regex),
            alias: name,
          },
          { requiredKeys: ['expr'] },
        ),
        { minLength: 1, maxLength: 3 },
      ),
      sources: fc.array(
        fc
          .record(
            { database: name, policy: name, name: name.filter((text) => text !== ':MEASUREMENT') },
            { requiredKeys: ['name', 'policy'] },
          )
          .map((at) => ({ kind: 'measurement' as const, ...at })),
        { minLength: 1, maxLength: 2 },
      ),
      condition,
      dimensions: fc.array(
        fc.oneof(
          name.map((text) => ({ kind: 'var_ref' as const, name: text })),
          fc.constant({ kind: 'wildcard' as const }),
        ),
        { maxLength: 2 },
      ),
      fill,
      order: fc.constantFrom('ASC' as const, 'DESC' as const),
      limit: fc.nat(),
      offset: fc.nat(),
      lookbackNs: fc.bigInt({ min: 0n, max: MAX_LOOKBACK_NS }),
      seriesLimit: fc.nat(),
      seriesOffset: fc.nat(),
      zone: fc.string(),
    },
    { requiredKeys: ['fields', 'sources', 'dimensions'] },
  )
  .map((parts) => ({ kind: 'select' as const, ...parts }) as SelectStatement);

describe('printing InfluxQL', () => {
  it('returns text that parses to the same statement', () => {
    fc.assert(
      fc.property(select, (statement) => {
        // Generated records have no prototype.
        assert.deepEqual(parseQuery(printStatement(statement)), [structuredClone(statement)]);
      }),
      { numRuns: caseCount(500) },
    );
  });

  it('preserves other statements', () => {
    const texts = [
      'SHOW TAG VALUES ON db FROM cpu, /m/ WITH KEY IN (host, "a b") WHERE host = \'x\' LIMIT 1 OFFSET 2',
      'SHOW STATS',
      "SHOW DIAGNOSTICS FOR 'it\\'s'",
      'SHOW SHARDS',
      'SHOW SHARD GROUPS',
      'SHOW MEASUREMENTS ON db.rp WITH MEASUREMENT =~ /c/',
      'SHOW SERIES EXACT CARDINALITY FROM cpu',
      'CREATE DATABASE db WITH DURATION 1d REPLICATION 1 SHARD DURATION 1h NAME rp',
      'ALTER RETENTION POLICY rp ON db DURATION 2h DEFAULT',
      "DELETE FROM cpu WHERE host = 'a' AND time > 5m",
      'DELETE FIELD a, "b c" FROM /m/ WHERE host = \'a\'',
      'DELETE FIELD a WHERE time > 5m',
      'DROP SERIES FROM cpu WHERE host =~ /x\\/y/',
      'EXPLAIN ANALYZE SELECT mean(v) INTO db.rp.:MEASUREMENT FROM (SELECT v FROM cpu) GROUP BY time(1m, -10s), host',
      'KILL QUERY 7',
    ];
    for (const text of texts) assert.equal(parseQuery(text).map(printStatement).join(';'), text);
  });

  it('parses any text or reports an error position within it', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc
            .array(
              fc.constantFrom(
                'SELECT',
                'FROM',
                'a',
                '(',
                ')',
                ',',
                '*',
                '/',
                "'",
                '"',
                '1h',
                '5',
                ';',
                'WHERE',
                '=',
                '=~',
                'GROUP',
                'BY',
                'time',
                'SHOW',
                'TAG',
                '$x',
                '::',
                '.',
              ),
            )
            .map((words) => words.join(' ')),
        ),
        (text) => {
          try {
            parseQuery(text);
          } catch (error) {
            assert.ok(error instanceof ParseError, String(error));
            assert.ok(error.pos >= 0 && error.pos <= Buffer.byteLength(text));
          }
        },
      ),
      { numRuns: caseCount(2000) },
    );
  });
});
