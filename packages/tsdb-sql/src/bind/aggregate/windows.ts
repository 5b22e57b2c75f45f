import { arrowTypeName } from '@plinth/tsdb-model/arrow-type-name.js';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import { isNumeric, type SqlType } from '@plinth/tsdb-model/sql-type.js';
import { NS_PER_DAY } from '@plinth/tsdb-model/time/calendar.js';
import type { OrderItem } from '../../functions/function-definition.js';
import {
  type FrameBound,
  type FunctionNode,
  nameOf,
  type OrderByExpr,
  type WindowSpec,
} from '../../parse/ast.js';
import { type Lazy, type OrderTree, treeOf, type WindowTree } from '../../plan-tree.js';
import type { Env } from '../session.js';

export interface BoundWindow {
  /** `(PARTITION BY … ORDER BY … ROWS …)` */
  readonly text: string;
  /** The same frame in a form for which DuckDB computes each row separately. */
  readonly rowByRow: string;
  readonly order: readonly OrderItem[];
  readonly shown: string;
  readonly tree: Lazy<WindowTree>;
}

/** A number that exceeds any row count. */
const ALL_ROWS = '1000000000000';
const COMPLETE_PARTITION = `ROWS BETWEEN ${ALL_ROWS} PRECEDING AND ${ALL_ROWS} FOLLOWING`;

const DEFAULT_FRAME = {
  ordered: 'RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW',
  whole: 'ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING',
} as const;

export function bindOrderItems(items: readonly OrderByExpr[], env: Env): readonly OrderItem[] {
  return items.map(({ expr, options }) => {
    const descending = options.asc === false;
    return {
      expr: env.session.bindExpr(expr, env),
      descending,
      nullsFirst: options.nulls_first ?? descending,
    };
  });
}

type Frame = NonNullable<WindowSpec['window_frame']>;

export function orderText(items: readonly OrderItem[]): string {
  return items.map((item) => `${item.expr.text} ${direction(item)}`).join(', ');
}

export function direction({ descending, nullsFirst }: Omit<OrderItem, 'expr'>): string {
  return `${descending ? 'DESC' : 'ASC'} NULLS ${nullsFirst ? 'FIRST' : 'LAST'}`;
}

export function bindWindow(over: NonNullable<FunctionNode['over']>, outer: Env): BoundWindow {
  const env = { ...outer, noWindow: 'Nested window functions are not supported' };
  const spec = resolve(
    'NamedWindow' in over ? { window_name: over.NamedWindow } : over.WindowSpec,
    env,
    0,
  );
  const partition = (spec.partition_by ?? []).map((expr) => env.session.bindExpr(expr, env));
  const order = bindOrderItems(spec.order_by ?? [], env);
  const frame = spec.window_frame;
  const firstKind = order[0]?.expr.type.kind;
  const isTime = firstKind === 'timestamp' || firstKind === 'date';
  const isTimeRange = frame?.units === 'Range' && isTime;
  const orderTexts = isTimeRange
    ? order.map((item) => `epoch_ns(${item.expr.text}) ${direction(item)}`).join(', ')
    : orderText(order);
  const group = [
    ...(partition.length > 0 ? [`PARTITION BY ${partition.map((p) => p.text).join(', ')}`] : []),
    ...(order.length > 0 ? [`ORDER BY ${orderTexts}`] : []),
  ];
  if (frame !== undefined) checkFrame(frame, order);
  const frames = frame === undefined ? [] : [frameText(frame, env, isTimeRange)];
  const isWhole = isWholePartition(frame, order.length > 0);
  const shown = [
    ...(partition.length > 0
      ? [`PARTITION BY [${partition.map((p) => p.displayName).join(', ')}]`]
      : []),
    ...(order.length > 0
      ? [
          `ORDER BY [${order.map((item) => `${item.expr.displayName} ${direction(item)}`).join(', ')}]`,
        ]
      : []),
    frame === undefined
      ? DEFAULT_FRAME[order.length > 0 ? 'ordered' : 'whole']
      : frameText(frame, env, isTimeRange),
  ];
  return {
    text: `(${[...group, ...frames].join(' ')})`,
    rowByRow: `(${[...group, ...(isWhole ? [COMPLETE_PARTITION] : frames)].join(' ')})`,
    order,
    shown: shown.join(' '),
    tree: () => ({
      partition: partition.map(treeOf),
      order: order.map(({ expr, ...direction }): OrderTree => ({ by: treeOf(expr), ...direction })),
      isPlain: frame === undefined,
    }),
  };
}

/** Without ORDER BY, all rows of a partition are peers of the current row. */
function isWholePartition(frame: Frame | undefined, isOrdered: boolean): boolean {
  if (frame === undefined) return !isOrdered;
  const { units, start_bound: start, end_bound: end = 'CurrentRow' } = frame;
  const hasPeers = !isOrdered && units !== 'Rows';
  return (
    (isUnbounded(start, 'Preceding') || (hasPeers && start === 'CurrentRow')) &&
    (isUnbounded(end, 'Following') || (hasPeers && end === 'CurrentRow'))
  );
}

/** Resolves a named window and adds the clauses of the call. */
function resolve(spec: Partial<WindowSpec>, env: Env, depth: number): Partial<WindowSpec> {
  if (spec.window_name === undefined) return spec;
  const name = nameOf(spec.window_name);
  const base = env.windows.get(name);
  if (base === undefined || depth > 16) {
    throw tsdbError('plan_error', `Error during planning: The window ${name} is not defined!`);
  }
  const parent = resolve(base, env, depth + 1);
  const isEmpty = (list: readonly unknown[] | undefined) => list === undefined || list.length === 0;
  return {
    partition_by: (isEmpty(spec.partition_by) ? parent.partition_by : spec.partition_by) ?? [],
    order_by: (isEmpty(spec.order_by) ? parent.order_by : spec.order_by) ?? [],
    ...((spec.window_frame ?? parent.window_frame) && {
      window_frame: (spec.window_frame ?? parent.window_frame) as Frame,
    }),
  };
}

function frameText(frame: Frame, env: Env, isTimeRange: boolean): string {
  const start = boundText(frame.start_bound, env, isTimeRange);
  const end =
    frame.end_bound === undefined ? 'CURRENT ROW' : boundText(frame.end_bound, env, isTimeRange);
  return `${frame.units.toUpperCase()} BETWEEN ${start} AND ${end}`;
}

const isUnbounded = (bound: FrameBound, side: 'Preceding' | 'Following'): boolean =>
  typeof bound === 'object' && side in bound && Object.values(bound)[0] === undefined;

/** Returns the position of a bound relative to the current row. */
const placeOf = (bound: FrameBound): number =>
  bound === 'CurrentRow' ? 0 : 'Preceding' in bound ? -1 : 1;

/** DuckDB would reject these frames with its own messages. */
function checkFrame(frame: Frame, order: readonly OrderItem[]): void {
  const { units, start_bound: start, end_bound: end = 'CurrentRow' } = frame;
  const refuse = (problem: string): never => {
    throw tsdbError('plan_error', `Error during planning: ${problem}`);
  };
  if (isUnbounded(start, 'Following'))
    refuse('Invalid window frame: start bound cannot be UNBOUNDED FOLLOWING');
  if (isUnbounded(end, 'Preceding'))
    refuse('Invalid window frame: end bound cannot be UNBOUNDED PRECEDING');
  if (placeOf(start) > placeOf(end))
    refuse('Invalid window frame: start bound cannot be larger than end bound');
  const hasDistance = [start, end].some(
    (bound) =>
      bound !== 'CurrentRow' &&
      !isUnbounded(bound, 'Preceding') &&
      !isUnbounded(bound, 'Following'),
  );
  const [key] = order;
  if (units === 'Range' && hasDistance && (key === undefined || order.length > 1))
    refuse('RANGE requires exactly one ORDER BY column');
  else if (units === 'Range' && hasDistance && key !== undefined && !hasDistances(key.expr.type))
    throw tsdbError(
      'not_implemented',
      `RANGE with an offset and an ORDER BY column of type ${arrowTypeName(key.expr.type)}`,
    );
  if (units === 'Groups' && order.length === 0) refuse('GROUPS requires an ORDER BY clause');
}

const hasDistances = (type: SqlType): boolean =>
  isNumeric(type) || type.kind === 'timestamp' || type.kind === 'date';

function boundText(bound: FrameBound, env: Env, isTimeRange: boolean): string {
  if (bound === 'CurrentRow') return 'CURRENT ROW';
  const side = 'Preceding' in bound ? 'PRECEDING' : 'FOLLOWING';
  const expr =
    'Preceding' in bound ? bound.Preceding : 'Following' in bound ? bound.Following : undefined;
  if (expr === undefined) return `UNBOUNDED ${side}`;
  const value = env.session.bindExpr(expr, env).constant?.value;
  if (typeof value === 'bigint' && value >= 0n) return `${value} ${side}`;
  if (typeof value === 'number') return `${value} ${side}`;
  const isInterval = typeof value === 'object' && value !== null;
  if (isInterval && !isTimeRange) {
    throw tsdbError(
      'plan_error',
      'Error during planning: Invalid window frame: an interval requires RANGE and ORDER BY of a timestamp or date',
    );
  }
  if (isInterval && value.months === 0) {
    return `${BigInt(value.days) * NS_PER_DAY + value.nanos} ${side}`;
  }
  throw tsdbError(
    'plan_error',
    'Error during planning: Invalid window frame: the bound must be a constant',
  );
}
