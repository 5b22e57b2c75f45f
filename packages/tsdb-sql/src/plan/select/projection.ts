import { tsdbError } from '@plinth/tsdb-model/errors.js';
import { columnOf } from '../../bind/expr/columns.js';
import { fieldsOf } from '../../bind/expr/fields.js';
import { argsOf, bindArgs, bindFunction } from '../../bind/expr/function-calls.js';
import type { ScopeColumn } from '../../bind/scope.js';
import type { Env } from '../../bind/session.js';
import type { Bound } from '../../bind/types/bound.js';
import {
  type Expr,
  nameOf,
  namesOf,
  type SelectItem,
  type WildcardOptions,
} from '../../parse/ast.js';

/** One column of the select list. */
export interface OutputItem {
  readonly name: string;
  readonly qualifier: string | undefined;
  readonly expr: Bound;
}

/** Maximum number of items. Three times as many make DuckDB fail after half a minute. */
const MAX_ITEM_COUNT = 20_000;

export function bindProjection(items: readonly SelectItem[], env: Env): readonly OutputItem[] {
  if (items.length > MAX_ITEM_COUNT) {
    throw tsdbError(
      'plan_error',
      `Error during planning: SELECT list has ${items.length} expressions; at most ${MAX_ITEM_COUNT} are allowed`,
    );
  }
  const output = items.flatMap((item) => bindItem(item, env));
  refuseDuplicates(output);
  refuseAmbiguous(output);
  return output;
}

function bindItem(item: SelectItem, env: Env): readonly OutputItem[] {
  if ('ExprWithAlias' in item) {
    const { expr, alias } = item.ExprWithAlias;
    const bound = bindUnnest(expr, env) ?? env.session.bindExpr(expr, env);
    if ('fields' in bound) return bound.fields;
    return [{ name: nameOf(alias), qualifier: undefined, expr: bound }];
  }
  if ('UnnamedExpr' in item) {
    const expr = bindUnnest(item.UnnamedExpr, env) ?? env.session.bindExpr(item.UnnamedExpr, env);
    if ('fields' in expr) return expr.fields;
    const column = columnOf(item.UnnamedExpr, env.scope);
    return [
      {
        name: column?.name ?? expr.column?.name ?? expr.displayName,
        qualifier: column?.qualifier ?? expr.column?.qualifier,
        expr,
      },
    ];
  }
  if ('Wildcard' in item) {
    if (env.scope.relations.length === 0 && env.scope.visible.length === 0) {
      throw tsdbError(
        'plan_error',
        'Error during planning: SELECT * with no tables specified is not valid',
      );
    }
    return expand(env.scope.visible, item.Wildcard, env);
  }
  const [kind, options] = item.QualifiedWildcard;
  if (kind.ObjectName === undefined)
    throw tsdbError('not_implemented', 'wildcards qualified by an expression, such as (a).*');
  const path = namesOf(kind.ObjectName);
  const relation = env.scope.relation(path);
  if (relation === undefined) {
    throw tsdbError('plan_error', `Error during planning: Invalid qualifier ${path.join('.')}`);
  }
  return expand(relation.columns, options, env);
}

/**
 * Binds `unnest(struct)` to one column per field, ignoring any alias. Returns `undefined` for
 * other items.
 */
function bindUnnest(
  expr: Expr,
  env: Env,
): Bound | { readonly fields: readonly OutputItem[] } | undefined {
  if (!('Function' in expr) || env.aggregation?.keyOf(expr) !== undefined) return undefined;
  if (namesOf(expr.Function.name).join('.') !== 'unnest') return undefined;
  const bound = bindArgs(argsOf(expr.Function), env);
  const [argument, another] = bound.args;
  const fields = argument && another === undefined ? fieldsOf(argument) : undefined;
  if (fields === undefined) return bindFunction(expr.Function, env, bound);
  env.session.spend(fields.length);
  return { fields: fields.map(({ name, value }) => ({ name, qualifier: undefined, expr: value })) };
}

function expand(
  columns: readonly ScopeColumn[],
  options: WildcardOptions,
  env: Env,
): readonly OutputItem[] {
  if (options.opt_rename !== undefined || options.opt_ilike !== undefined) {
    throw tsdbError('not_implemented', 'wildcard * with RENAME or ILIKE');
  }
  const left = excludedNames(options);
  for (const name of left) {
    if (!columns.some((column) => column.name === name)) throw env.scope.unknownColumn(name, name);
  }
  const replaced = new Map(
    (options.opt_replace?.items ?? []).map((item) => [nameOf(item.column_name), item.expr]),
  );
  const remaining = columns.filter((column) => !left.has(column.name));
  env.session.spend(remaining.length);
  return remaining.map((column) => {
    const expr = replaced.get(column.name);
    return {
      name: column.name,
      qualifier: column.qualifier,
      expr: expr === undefined ? plainColumn(column, env) : env.session.bindExpr(expr, env),
    };
  });
}

function excludedNames(options: WildcardOptions): ReadonlySet<string> {
  const { opt_exclude, opt_except } = options;
  return new Set([
    ...(opt_exclude?.Single ? namesOf(opt_exclude.Single).slice(-1) : []),
    ...(opt_exclude?.Multiple ?? []).flatMap((name) => namesOf(name).slice(-1)),
    ...(opt_except
      ? [opt_except.first_element, ...opt_except.additional_elements].map(nameOf)
      : []),
  ]);
}

function plainColumn(column: ScopeColumn, env: Env): Bound {
  if (env.aggregation !== undefined) {
    const key = env.aggregation.keyOfColumn(column);
    if (key === undefined) throw env.aggregation.ungrouped(column);
    return key.output;
  }
  column.use();
  const qualified =
    column.qualifier === undefined ? column.name : `${column.qualifier}.${column.name}`;
  return {
    text: column.text,
    tree: column.tree,
    type: column.type,
    displayName: qualified,
    hasAggregate: false,
    hasWindow: false,
    column,
  };
}

function refuseDuplicates(items: readonly OutputItem[]): void {
  const positions = new Map<string, number>();
  for (const [position, item] of items.entries()) {
    const shown = item.qualifier === undefined ? item.name : `${item.qualifier}.${item.name}`;
    const before = positions.get(shown);
    if (before === undefined) {
      positions.set(shown, position);
      continue;
    }
    throw tsdbError(
      'plan_error',
      'Error during planning: Projections require unique expression names but the expression ' +
        `"${shownItem(items[before], shown)}" at position ${before} and "${shownItem(item, shown)}" at position ` +
        `${position} have the same name. Consider aliasing ("AS") one of them.`,
    );
  }
}

/**
 * Rejects a column and another value of the same name, which an outer query could not distinguish.
 */
function refuseAmbiguous(items: readonly OutputItem[]): void {
  const qualified = new Map<string, string>();
  for (const { name, qualifier } of items)
    if (qualifier !== undefined) qualified.set(name, `${qualifier}.${name}`);
  const other = items.find((item) => item.qualifier === undefined && qualified.has(item.name));
  if (other === undefined) return;
  throw tsdbError(
    'plan_error',
    `Schema error: Schema contains qualified field name ${qualified.get(other.name)} and unqualified field name ` +
      `${other.name} which would be ambiguous`,
  );
}

function shownItem(item: OutputItem | undefined, name: string): string {
  if (item === undefined || item.expr.displayName === name) return name;
  return `${item.expr.displayName} AS ${name}`;
}
