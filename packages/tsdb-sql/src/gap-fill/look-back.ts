import { tsdbError } from '@plinth/tsdb-model/errors.js';
import { MIN_TIME_NS } from '@plinth/tsdb-model/scan.js';
import { lookbackHint } from '@plinth/tsdb-model/text/lookback-hint.js';
import type { Aggregation } from '../bind/aggregate/aggregation.js';
import { condition } from '../bind/expr/operators/condition.js';
import type { Env, Lookback } from '../bind/session.js';
import type { Expr } from '../parse/ast.js';
import { tokensOf } from '../parse/tokens.js';
import { conjuncts, rangeIn } from './gap-bins.js';

const MAY_HAVE_HINT = /\/\*\+\s*lookback\b/i;

/** Returns the look-back of a statement from its hint. Throws `plan_error`. */
export function lookbackOf(text: string, defaultNs: bigint): Lookback {
  if (!MAY_HAVE_HINT.test(text)) return { ns: defaultNs, isRequested: false };
  const hints = Array.from(tokensOf(text)).flatMap(({ word }) =>
    word.startsWith('/*+') ? (lookbackHint(word) ?? []) : [],
  );
  const [hint] = hints;
  if (hint === undefined) return { ns: defaultNs, isRequested: false };
  if (hints.length > 1)
    throw tsdbError(
      'plan_error',
      `Error during planning: found ${hints.length} lookback hints; write one for the statement`,
    );
  if ('problem' in hint) throw tsdbError('plan_error', `Error during planning: ${hint.problem}`);
  return { ns: hint.ns, isRequested: true };
}

/**
 * Returns the condition on the rows before the time range whose groups `locf` continues, or
 * `undefined` without a look-back. Extends the scan of the time column to these rows. Call it when
 * all expressions of the SELECT are bound.
 */
export function earlierCondition(
  selection: Expr | undefined,
  { gaps, fills }: Aggregation,
  env: Env,
): string | undefined {
  const { ns, isRequested } = env.session.lookback;
  if (gaps === undefined || ns === 0n || !fills.some(({ how }) => how === 'locf')) return undefined;
  const { column, minNs } = gaps;
  const all = conjuncts(selection);
  const others = all.filter((part) => rangeIn(part, column, env).minNs === MIN_TIME_NS);
  if (others.length === all.length) {
    if (!isRequested) return undefined;
    throw tsdbError(
      'plan_error',
      'Error during planning: the "lookback" hint needs the lower time bound in the WHERE clause of the ' +
        'SELECT with the gap-filling function; move the condition out of the subquery',
    );
  }
  column.origin?.scan.lookBack(ns);
  const fromNs = minNs - ns < MIN_TIME_NS ? MIN_TIME_NS : minNs - ns;
  return [
    ...others.map((part) => condition(env.session.bindExpr(part, env)).text),
    `${column.text} >= make_timestamp_ns((${fromNs})::BIGINT)`,
    `${column.text} < make_timestamp_ns((${minNs})::BIGINT)`,
  ].join(' AND ');
}
