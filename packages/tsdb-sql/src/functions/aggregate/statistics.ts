import { tsdbError } from '@plinth/tsdb-model/errors.js';
import { isNumeric } from '@plinth/tsdb-model/sql-type.js';
import type { BoundExpr } from '../../bound-expr.js';
import type { FunctionCall, FunctionDefinition, FunctionResult } from '../function-definition.js';
import {
  aggregate,
  argAt,
  badArguments,
  expectArgCount,
  FLOAT64,
  floatArg,
  UINT64,
} from '../signature.js';
import { integerName } from './aggregates.js';

/** SQL names and DuckDB names. All take pairs of floats and return Float64. */
const PAIRWISE: readonly [names: readonly string[], duckDbFunction: string][] = [
  [['corr'], 'corr'],
  [['covar_samp', 'covar'], 'covar_samp'],
  [['covar_pop'], 'covar_pop'],
  [['regr_avgx'], 'regr_avgx'],
  [['regr_avgy'], 'regr_avgy'],
  [['regr_intercept'], 'regr_intercept'],
  [['regr_r2'], 'regr_r2'],
  [['regr_slope'], 'regr_slope'],
  [['regr_sxx'], 'regr_sxx'],
  [['regr_sxy'], 'regr_sxy'],
  [['regr_syy'], 'regr_syy'],
];

const SPREAD: readonly [names: readonly string[], duckDbFunction: string][] = [
  [['stddev', 'stddev_samp'], 'stddev_samp'],
  [['stddev_pop'], 'stddev_pop'],
  [['var', 'var_samp', 'var_sample'], 'var_samp'],
  [['var_pop', 'var_population'], 'var_pop'],
];

/** Statistical aggregate functions. Source: query-languages, "Aggregates". */
export const STATISTICS: readonly FunctionDefinition[] = [
  ...SPREAD.map(([names, duckDbFunction]) =>
    aggregate(names, (call) => {
      expectArgCount(call, 1);
      const x = numericArg(call, 0).text;
      // DuckDB fails for non-finite values; the result for them is NaN.
      const spread = call.aggregate(duckDbFunction, [x], { filter: `isfinite(${x})` });
      const odd = call.aggregate('bool_or', [`NOT isfinite(${x})`], { distinct: false });
      return { text: `CASE WHEN ${odd} THEN 'NaN'::DOUBLE ELSE ${spread} END`, type: FLOAT64 };
    }),
  ),
  ...PAIRWISE.map(([names, duckDbFunction]) =>
    aggregate(names, (call) => {
      expectArgCount(call, 2);
      const [y, x] = [numericArg(call, 0).text, numericArg(call, 1).text];
      // DuckDB fails for non-finite values and returns NaN for pairs without variance; both give
      // NULL.
      const filter = `isfinite(${y}) AND isfinite(${x})`;
      const value = `plinth_nan_to_null(${call.aggregate(duckDbFunction, [y, x], { filter })})`;
      const odd = call.aggregate('bool_or', [`NOT (${filter})`], { distinct: false });
      const isFlat =
        duckDbFunction === 'regr_r2'
          ? ` OR ${call.aggregate('regr_syy', [y, x], { filter })} = 0`
          : '';
      return { text: `CASE WHEN ${odd}${isFlat} THEN NULL ELSE ${value} END`, type: FLOAT64 };
    }),
  ),
  aggregate(['regr_count'], (call) => {
    expectArgCount(call, 2);
    const count = call.aggregate('regr_count', [
      numericArg(call, 0).text,
      numericArg(call, 1).text,
    ]);
    return { text: `CAST(${count} AS UBIGINT)`, type: UINT64 };
  }),
  aggregate(['approx_median'], (call) => {
    expectArgCount(call, 1);
    return quantile(call, argAt(call, 0), 0.5);
  }),
  aggregate(['approx_percentile_cont'], (call) => bindPercentile(call, false)),
  // The result is exact, so integers become floats. Source: DataFusion, aggregate functions,
  // "percentile_cont".
  aggregate(['percentile_cont', 'quantile_cont'], (call) => bindPercentile(call, true)),
  aggregate(['approx_percentile_cont_with_weight'], bindWeightedPercentile),
];

export const STATISTICS_MACROS: readonly string[] = [
  'CREATE OR REPLACE MACRO plinth_nan_to_null(x) AS CASE WHEN isnan(x) THEN NULL ELSE x END',
  // Sorts the pairs and computes the cumulative weights before and after each. The result is the
  // value at the rank, interpolated within its pair along the local slope, as a t-digest of single
  // values would do.
  `CREATE OR REPLACE MACRO plinth_weighted_quantile(pairs, p) AS (
     SELECT CASE
       WHEN count(*) = 0 THEN NULL
       WHEN p >= 1 THEN max(x)
       WHEN p <= 0 THEN min(x)
       ELSE greatest(min(x), least(max(x), min(x + (p * total - upto + w / 2) / w * slope) FILTER (
         p * total >= upto - w AND (p * total < upto OR upto = total))))
       END
     FROM (
       SELECT x, w, total, upto, CASE
         WHEN n = 1 THEN 0
         WHEN place = 1 THEN following - x
         WHEN place = n THEN x - preceding
         ELSE (following - preceding) / 2 END AS slope
       FROM (
         SELECT x, w, sum(w) OVER () AS total, count(*) OVER () AS n,
           sum(w) OVER by_x AS upto, row_number() OVER by_x AS place,
           lead(x) OVER by_x AS following, lag(x) OVER by_x AS preceding
         FROM (SELECT pair.x AS x, pair.w AS w FROM (SELECT unnest(pairs) AS pair))
         WHERE x IS NOT NULL AND w > 0
         WINDOW by_x AS (ORDER BY x, w ROWS UNBOUNDED PRECEDING))))`,
];

function numericArg(call: FunctionCall, index: number): BoundExpr {
  const arg = argAt(call, index);
  if (arg.type.kind !== 'null' && !isNumeric(arg.type)) throw badArguments(call);
  return floatArg(call, index);
}

/** Binds `f(p [, centroids]) WITHIN GROUP (ORDER BY x)` or the older `f(x, p [, centroids])`. */
function bindPercentile(call: FunctionCall, isExact: boolean): FunctionResult {
  const [order] = call.orderBy;
  if (order !== undefined && call.args.length < 3) {
    expectArgCount(call, 1, 2);
    const percentile = percentileAt(call, 0);
    const rank = order.descending ? 1 - percentile : percentile;
    return quantile(call, isExact ? asFloat(call, order.expr) : order.expr, rank);
  }
  expectArgCount(call, 2, 3);
  const value = argAt(call, 0);
  return quantile(call, isExact ? asFloat(call, value) : value, percentileAt(call, 1));
}

function asFloat(call: FunctionCall, arg: BoundExpr): BoundExpr {
  return arg.type.kind === 'int' ? call.coerce(arg, FLOAT64) : arg;
}

/**
 * The result is exact for every size, which is a valid approximation and needs no special case for
 * small groups. Integers keep their type by truncation.
 */
function quantile(call: FunctionCall, arg: BoundExpr, percentile: number): FunctionResult {
  const { type } = arg;
  if (type.kind === 'null') return { text: 'CAST(NULL AS DOUBLE)', type: FLOAT64 };
  if (!isNumeric(type)) throw badArguments(call);
  const value = call.aggregate('quantile_cont', [call.coerce(arg, FLOAT64).text, `${percentile}`], {
    // WITHIN GROUP contains the ranked expression; the DuckDB function ranks its first argument.
    orderBy: '',
  });
  switch (type.kind) {
    case 'int':
      return { text: `CAST(trunc(${value}) AS ${integerName(type)})`, type };
    case 'float':
      return type.bits === 64 ? { text: value, type } : { text: `CAST(${value} AS FLOAT)`, type };
    default:
      return { text: value, type: FLOAT64 };
  }
}

/** Binds `f(weight, p [, centroids]) WITHIN GROUP (ORDER BY x)` or the older `f(x, weight, p)`. */
function bindWeightedPercentile(call: FunctionCall): FunctionResult {
  const [order] = call.orderBy;
  expectArgCount(call, order === undefined ? 3 : 2, 4);
  const value = call.coerce(order?.expr ?? argAt(call, 0), FLOAT64);
  const weight = call.coerce(argAt(call, order === undefined ? 1 : 0), FLOAT64);
  const percentile = percentileAt(call, order === undefined ? 2 : 1);
  const pairs = call.aggregate('list', [`{'x': ${value.text}, 'w': ${weight.text}}`], {
    orderBy: '',
  });
  const rank = order?.descending === true ? 1 - percentile : percentile;
  const finish = (aggregate: string) => `plinth_weighted_quantile(${aggregate}, ${rank})`;
  return { text: pairs, finish, type: FLOAT64 };
}

function percentileAt(call: FunctionCall, index: number): number {
  const value = argAt(call, index).constant?.value;
  const percentile = typeof value === 'bigint' ? Number(value) : value;
  if (typeof percentile !== 'number') {
    throw tsdbError(
      'plan_error',
      `This feature is not implemented: Percentile value for '${call.name.toUpperCase()}' must be a literal`,
    );
  }
  if (!(percentile >= 0 && percentile <= 1)) {
    throw tsdbError(
      'plan_error',
      'Error during planning: Percentile value must be between 0.0 and 1.0 inclusive, ' +
        `${percentile} is invalid`,
    );
  }
  return percentile;
}
