import { tsdbError } from '@plinth/tsdb-model/errors.js';
import { condition } from '../../bind/expr/operators/condition.js';
import { Scope, type ScopeColumn } from '../../bind/scope.js';
import type { Env, QueryEnv } from '../../bind/session.js';
import { BOOLEAN, type Bound } from '../../bind/types/bound.js';
import {
  type Join,
  type JoinConstraint,
  namesOf,
  type TableWithJoins,
  variantOf,
} from '../../parse/ast.js';
import { type ExprTree, treeOf } from '../../plan-tree.js';
import { joinUsing, sharedNames } from './join-using.js';
import { bindTableFactor, type FromItem } from './table-factor.js';

/** Binds a FROM clause; its items are joined by CROSS JOIN. */
export function bindFrom(items: readonly TableWithJoins[], around: QueryEnv): FromItem | undefined {
  let bound: FromItem | undefined;
  for (const item of items) {
    const next = bindJoins(item, around, bound);
    bound = bound === undefined ? next : crossJoin(bound, next);
  }
  return bound;
}

function bindJoins(item: TableWithJoins, around: QueryEnv, before: FromItem | undefined): FromItem {
  let left = bindFactor(item.relation, around, before);
  for (const join of item.joins) {
    const seen = before === undefined ? left : crossJoin(before, left);
    left = bindJoin(left, bindFactor(join.relation, around, seen), join, around);
  }
  return left;
}

function bindFactor(
  relation: TableWithJoins['relation'],
  around: QueryEnv,
  before: FromItem | undefined,
): FromItem {
  if ('NestedJoin' in relation) {
    const { table_with_joins } = relation.NestedJoin as {
      readonly table_with_joins: TableWithJoins;
    };
    const nested = bindJoins(table_with_joins, around, undefined);
    return { ...nested, text: `(${nested.text})` };
  }
  return bindTableFactor(relation, around, before && scopeOf(before, around));
}

function crossJoin(left: FromItem, right: FromItem): FromItem {
  return {
    text: `${left.text} CROSS JOIN ${right.text}`,
    tree: () => ({
      ...{ kind: 'join', join: 'CROSS JOIN', left: left.tree(), right: right.tree() },
      on: undefined,
    }),
    relations: [...left.relations, ...right.relations],
    visible: [...left.visible, ...right.visible],
    tableName: undefined,
  };
}

export function scopeOf(item: FromItem | undefined, around: QueryEnv): Scope {
  return new Scope({
    relations: item?.relations ?? [],
    visible: item?.visible ?? [],
    parent: around.outer,
  });
}

type Side = 'left' | 'right';

interface JoinKind {
  readonly duckDbJoin: string;
  /** Sides whose columns are in the result. */
  readonly shows: readonly Side[];
  /** Sides that may be filled with NULLs. */
  readonly nullable: readonly Side[];
  /** Sides that need only rows that meet the ON condition. */
  readonly narrowed: readonly Side[];
}

const BOTH: readonly Side[] = ['left', 'right'];
const INNER: JoinKind = { duckDbJoin: 'INNER JOIN', shows: BOTH, nullable: [], narrowed: BOTH };
const LEFT: JoinKind = {
  duckDbJoin: 'LEFT JOIN',
  shows: BOTH,
  nullable: ['right'],
  narrowed: ['right'],
};
const RIGHT: JoinKind = {
  duckDbJoin: 'RIGHT JOIN',
  shows: BOTH,
  nullable: ['left'],
  narrowed: ['left'],
};
const KINDS: Readonly<Record<string, JoinKind>> = {
  Join: INNER,
  Inner: INNER,
  CrossJoin: INNER,
  Left: LEFT,
  LeftOuter: LEFT,
  Right: RIGHT,
  RightOuter: RIGHT,
  FullOuter: { duckDbJoin: 'FULL JOIN', shows: BOTH, nullable: BOTH, narrowed: [] },
  Semi: { duckDbJoin: 'SEMI JOIN', shows: ['left'], nullable: [], narrowed: BOTH },
  LeftSemi: { duckDbJoin: 'SEMI JOIN', shows: ['left'], nullable: [], narrowed: BOTH },
  RightSemi: { duckDbJoin: 'SEMI JOIN', shows: ['right'], nullable: [], narrowed: BOTH },
  Anti: { duckDbJoin: 'ANTI JOIN', shows: ['left'], nullable: [], narrowed: ['right'] },
  LeftAnti: { duckDbJoin: 'ANTI JOIN', shows: ['left'], nullable: [], narrowed: ['right'] },
  RightAnti: { duckDbJoin: 'ANTI JOIN', shows: ['right'], nullable: [], narrowed: ['left'] },
};

function bindJoin(left: FromItem, right: FromItem, join: Join, around: QueryEnv): FromItem {
  const operator = variantOf(join.join_operator);
  const kind = KINDS[operator];
  if (kind === undefined)
    throw tsdbError('not_implemented', `Unsupported JOIN operator ${operator}`);
  const constraint = join.join_operator[operator] ?? 'None';
  const shared = sharedColumns(left, right, constraint);
  const on = shared === undefined ? bindOn({ left, right, kind, constraint, around }) : undefined;
  const using = shared && joinUsing({ left, right, names: shared, keeps: keptSide(kind) });
  const conditionText = on?.text ?? using?.on ?? 'true';
  for (const side of kind.nullable) markNullable(side === 'left' ? left : right);
  const isMirrored = kind.shows.length === 1 && kind.shows[0] === 'right';
  const [first, second] = isMirrored ? [right, left] : [left, right];
  const text = `(${first.text} ${kind.duckDbJoin} ${second.text} ON ${conditionText})`;
  const tree: FromItem['tree'] = () => ({
    ...{ kind: 'join', join: kind.duckDbJoin, left: first.tree(), right: second.tree() },
    on: on === undefined ? (using?.tree() ?? TRUE) : treeOf(on),
  });
  if (kind.shows.length === 1) {
    return { text, tree, relations: first.relations, visible: first.visible, tableName: undefined };
  }
  return {
    text,
    tree,
    relations: [...left.relations, ...right.relations],
    visible: using?.visible ?? [...left.visible, ...right.visible],
    tableName: undefined,
  };
}

function keptSide(kind: JoinKind): Side | 'both' {
  if (kind.nullable.length === 2) return 'both';
  return kind.nullable[0] === 'left' ? 'right' : 'left';
}

/** Returns the column names of a USING or NATURAL join, or `undefined` for any other condition. */
function sharedColumns(
  left: FromItem,
  right: FromItem,
  constraint: JoinConstraint,
): readonly string[] | undefined {
  if (constraint === 'Natural') return sharedNames(left, right);
  if (typeof constraint === 'object' && 'Using' in constraint) {
    return constraint.Using.map((name) => namesOf(name).at(-1) ?? '');
  }
  return undefined;
}

const TRUE: ExprTree = { kind: 'constant', value: true, type: BOOLEAN };

function bindOn(options: {
  readonly left: FromItem;
  readonly right: FromItem;
  readonly kind: JoinKind;
  readonly constraint: JoinConstraint;
  readonly around: QueryEnv;
}): Bound | undefined {
  const { left, right, kind, constraint, around } = options;
  if (typeof constraint !== 'object' || !('On' in constraint)) return undefined;
  const env: Env = {
    ...around,
    scope: scopeOf(crossJoin(left, right), around),
    windows: new Map(),
    noAggregate: 'Aggregate functions are not allowed in a JOIN condition',
    noWindow: 'Window functions are not allowed in a JOIN condition',
  };
  const on = condition(around.session.bindExpr(constraint.On, env));
  for (const side of kind.narrowed) {
    const scans = scansOf(side === 'left' ? left : right);
    for (const rowCondition of on.rowConditions ?? [])
      if (scans.has(rowCondition.scan)) rowCondition.scan.narrow(rowCondition);
  }
  return on;
}

function scansOf(item: FromItem): ReadonlySet<NonNullable<ScopeColumn['origin']>['scan']> {
  return new Set(item.visible.flatMap(({ origin }) => (origin === undefined ? [] : [origin.scan])));
}

function markNullable(item: FromItem): void {
  for (const scan of scansOf(item)) scan.isNullable = true;
}
