import { compareByteOrder } from '@plinth/tsdb-model/byte-order.js';
import { MAX_TIME_NS, MIN_TIME_NS } from '@plinth/tsdb-model/scan.js';
import { floorMod } from '@plinth/tsdb-model/time/calendar.js';
import { isTimeZone } from '@plinth/tsdb-model/time/time-zone.js';
import type { Expr } from '../../ast/expressions.js';
import type { Fill, SelectStatement } from '../../ast/select.js';
import { checkCondition } from '../check/check-condition.js';
import { validateFields } from '../check/validate-fields.js';
import { splitCondition } from '../condition/split-condition.js';
import { looksLikeTime } from '../condition/time-literal.js';
import type { DataType } from '../data-type.js';
import type { Environment } from '../environment.js';
import { SELECTORS } from '../functions.js';
import { planFailure } from '../plan-failure.js';
import { foldNumbers, type ReduceContext, timeValueOf } from '../reduce.js';
import { columnNames, timeName } from './column-names.js';
import {
  type CompiledSelect,
  type Interval,
  type OutputField,
  tablesOf,
} from './compiled-select.js';
import { Slots } from './slots.js';
import type { ExpandedSelect, SourceColumns } from './source.js';
import { argumentColumns, isTimeIn, mergedColumns, typeOfExpr } from './source-columns.js';

/** Properties of the outer statement that a subquery inherits. */
export type OuterQuery = Pick<
  CompiledSelect,
  'minNs' | 'maxNs' | 'hasLowerBound' | 'interval' | 'groupTags' | 'zone'
>;

/** Checks a SELECT and compiles it for execution. Throws `plan_error`. */
export function compileSelect(
  select: ExpandedSelect,
  env: Environment,
  outer?: OuterQuery,
): CompiledSelect {
  const zone = zoneOf(select.zone) ?? outer?.zone;
  const reduce: ReduceContext = { nowNs: env.nowNs, zone };
  const columns = mergedColumns(select.bound);
  const isTimeName = isTimeIn(columns);
  const { rest, range } = splitCondition(select.condition, { ...reduce, isTimeName });
  const checked = checkedCondition(rest);
  const condition =
    checked !== undefined && select.bound.length > 1 ? fieldsOfOthers(checked, columns) : checked;
  const ownInterval = intervalOf(select, reduce);
  const interval = ownInterval ?? outer?.interval;
  const fields = select.fields.map((field) => ({ ...field, expr: foldNumbers(field.expr) }));
  const typeOf = (expr: Expr): DataType => typeOfExpr(expr, columns);
  const named = columnNames(fields, select.into !== undefined);
  if (named.length > 0 || fields.length > 0 || select.fields.length > 0) {
    checkFields(select, fields, {
      interval,
      isInherited: ownInterval === undefined && interval !== undefined,
      typeOf,
    });
  }
  const slots = new Slots(columns, argumentColumns(select.bound, columns));
  const output: OutputField[] = named.map(({ name, expr, isWrittenTag }) => {
    const compiled = slots.compile(expr);
    return { name, expr: compiled, type: compiled.type, isWrittenTag };
  });
  const hasCalls = slots.calls.length > 0;
  const bounds = boundsOf(range, {
    outer,
    nowNs: env.nowNs,
    hasInterval: ownInterval !== undefined,
  });
  const groupTags = groupTagsOf(select, outer);
  const inner: OuterQuery = { ...bounds, interval, groupTags, zone };
  return {
    sources: select.bound.map((source) =>
      source.kind === 'table'
        ? source
        : { kind: 'subquery', select: compileSelect(source.select, env, inner) },
    ),
    timeName: timeName(select.fields),
    fields: output,
    calls: slots.calls,
    columns: slots.columns,
    isSelector: slots.calls.length === 1 && SELECTORS.has(slots.calls[0]?.name ?? ''),
    condition,
    ...bounds,
    lookbackNs: select.lookbackNs ?? env.lookbackNs,
    interval: hasCalls ? interval : undefined,
    groupTags,
    fill: fillOf(select.fill, outer !== undefined),
    isDescending: select.order === 'DESC',
    limit: select.limit === 0 ? undefined : select.limit,
    offset: select.offset ?? 0,
    seriesLimit: select.seriesLimit === 0 ? undefined : select.seriesLimit,
    seriesOffset: select.seriesOffset ?? 0,
    zone,
  };
}

/**
 * Recompiles a SELECT of one table with another condition or at another time.
 * @param known the earlier result. The offset of its GROUP BY time must not use `now()`.
 */
export function recompileSelect(
  known: CompiledSelect,
  { condition, dimensions }: Pick<SelectStatement, 'condition' | 'dimensions'>,
  env: Environment,
): CompiledSelect {
  const isTimeName = (name: string): boolean =>
    name.toLowerCase() === 'time' && !tablesOf(known).some(({ columns }) => columns.has(name));
  const { nowNs } = env;
  const { rest, range } = splitCondition(condition, { nowNs, zone: known.zone, isTimeName });
  return {
    ...known,
    condition: checkedCondition(rest),
    ...boundsOf(range, {
      outer: undefined,
      nowNs,
      hasInterval: dimensions.some(({ kind }) => kind === 'call'),
    }),
  };
}

function checkedCondition(condition: Expr | undefined): Expr | undefined {
  const folded = condition === undefined ? undefined : foldNumbers(condition);
  if (folded !== undefined) checkCondition(folded);
  return folded;
}

/**
 * Casts names that are fields in another source to `field`, so that they are NULL here, not absent
 * tags.
 */
function fieldsOfOthers(expr: Expr, columns: SourceColumns): Expr {
  switch (expr.kind) {
    case 'paren':
      return { kind: 'paren', inner: fieldsOfOthers(expr.inner, columns) };
    case 'binary': {
      const left = fieldsOfOthers(expr.left, columns);
      return { ...expr, left, right: fieldsOfOthers(expr.right, columns) };
    }
    case 'call':
      return { ...expr, args: expr.args.map((arg) => fieldsOfOthers(arg, columns)) };
    case 'var_ref': {
      const isField = columns.fields.has(expr.name) && !columns.tags.has(expr.name);
      return isField && expr.cast === undefined ? { ...expr, cast: 'field' } : expr;
    }
    default:
      return expr;
  }
}

function checkFields(
  select: ExpandedSelect,
  fields: ExpandedSelect['fields'],
  options: {
    readonly interval: Interval | undefined;
    readonly isInherited: boolean;
    readonly typeOf: (expr: Expr) => DataType;
  },
): void {
  validateFields(fields, {
    hasInterval: options.interval !== undefined,
    isIntervalInherited: options.isInherited,
    fill:
      select.fill?.kind === 'none' || select.fill?.kind === 'linear' ? select.fill.kind : 'other',
    limit: select.limit,
    isWrite: select.into !== undefined,
    typeOf: options.typeOf,
  });
}

function zoneOf(zone: string | undefined): string | undefined {
  if (zone === undefined) return undefined;
  if (zone === 'UTC' || zone === 'Local' || zone === '') return 'UTC';
  // `Intl` accepts zone names in any case; InfluxDB does not.
  const isKnown =
    isTimeZone(zone) && /^[A-Z]/.test(zone) && (/[a-z]/.test(zone) || /^[A-Z0-9]+$/.test(zone));
  if (isKnown) return zone;
  throw planFailure(`unable to find timezone`);
}

function fillOf(fill: Fill | undefined, isInner: boolean): Fill {
  if (fill === undefined || fill.kind === 'null') return { kind: isInner ? 'none' : 'null' };
  return fill;
}

function groupTagsOf(select: ExpandedSelect, outer: OuterQuery | undefined): string[] {
  const tags = new Set(outer?.groupTags ?? []);
  for (const dimension of select.dimensions) {
    if (dimension.kind !== 'var_ref') continue;
    if (dimension.name === 'time') {
      throw planFailure('time() is a function and expects at least one argument');
    }
    tags.add(dimension.name);
  }
  return [...tags].sort(compareByteOrder);
}

/** Returns the interval and offset of GROUP BY time. Throws `plan_error` if they are invalid. */
export function intervalOf(
  select: Pick<ExpandedSelect, 'dimensions'>,
  context: ReduceContext,
): Interval | undefined {
  let interval: Interval | undefined;
  for (const dimension of select.dimensions) {
    if (dimension.kind !== 'call') continue;
    if (interval !== undefined) throw planFailure('multiple time dimensions not allowed');
    const [every, offset] = dimension.args;
    if (every?.kind !== 'duration') throw planFailure('time dimension must have duration argument');
    if (every.ns <= 0n) throw planFailure('time dimension must have a duration above zero');
    const offsetNs = offset === undefined ? 0n : offsetOf(offset, context);
    interval = { everyNs: every.ns, offsetNs: floorMod(offsetNs, every.ns) };
  }
  return interval;
}

function offsetOf(offset: Expr, context: ReduceContext): bigint {
  if (offset.kind === 'string' && !looksLikeTime(offset.value)) {
    throw planFailure('time dimension offset must be duration or now()');
  }
  return timeValueOf(offset, context);
}

function boundsOf(
  range: { readonly min: bigint | undefined; readonly max: bigint | undefined },
  options: {
    readonly outer: OuterQuery | undefined;
    readonly nowNs: bigint;
    /**
     * Whether the statement defines its own interval. With an inherited interval, a subquery uses the outer time bounds.
     */
    readonly hasInterval: boolean;
  },
): Pick<CompiledSelect, 'minNs' | 'maxNs' | 'hasLowerBound' | 'ownRange'> {
  const { outer } = options;
  const outerMin = outer?.hasLowerBound ? outer.minNs : undefined;
  const min = laterOf(range.min, outerMin);
  const ownMax = range.max ?? (options.hasInterval ? options.nowNs : undefined);
  const outerMax = outer?.maxNs ?? MAX_TIME_NS;
  const maxNs = ownMax !== undefined && ownMax < outerMax ? ownMax : outerMax;
  const ownRange = { min: range.min, max: ownMax };
  return { minNs: min ?? MIN_TIME_NS, maxNs, hasLowerBound: min !== undefined, ownRange };
}

function laterOf(a: bigint | undefined, b: bigint | undefined): bigint | undefined {
  if (a === undefined) return b;
  return b === undefined || a > b ? a : b;
}
