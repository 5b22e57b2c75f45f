import { type Expr, type ExprNodes, type Ident, nameOf } from '../../parse/ast.js';
import type { Scope, ScopeColumn } from '../scope.js';
import type { Env } from '../session.js';
import type { Bound } from '../types/bound.js';
import { fieldOf } from './fields.js';

export function bindIdentifier(ident: Ident, env: Env): Bound {
  const name = nameOf(ident);
  const alias = env.aliases?.items.get(name);
  if (alias !== undefined && env.aliases?.first) return alias;
  const found = findUp(env, (scope) => scope.find(name));
  if (found !== undefined) return reference(found.column, found.isOuter, env);
  if (alias !== undefined) return alias;
  throw env.scope.unknownColumn(shownName([name]), name);
}

/** Binds `t.c`, `iox.t.c` or `public.iox.t.c`; remaining names are struct fields. */
export function bindCompoundIdentifier(idents: ExprNodes['CompoundIdentifier'], env: Env): Bound {
  const names = idents.map(nameOf);
  for (let pathSize = names.length - 1; pathSize >= 1; pathSize--) {
    const [path, name] = [names.slice(0, pathSize), names[pathSize] ?? ''];
    const found = findUp(env, (scope) => scope.findQualified(path, name));
    if (found !== undefined) {
      const column = reference(found.column, found.isOuter, env);
      return names
        .slice(pathSize + 1)
        .reduce<Bound>((value, field) => fieldOf(value, field), column);
    }
  }
  const struct = findUp(env, (scope) => scope.find(names[0] ?? ''));
  if (struct?.column.type.kind === 'struct') {
    const column = reference(struct.column, struct.isOuter, env);
    return names.slice(1).reduce<Bound>((value, field) => fieldOf(value, field), column);
  }
  throw env.scope.unknownColumn(shownName(names), names.at(-1) ?? '');
}

/** Returns the column of this level that a bare name refers to. Never throws. */
export function columnOf(expr: Expr, scope: Scope): ScopeColumn | undefined {
  if ('Identifier' in expr) {
    const matches = scope.visible.filter((column) => column.name === nameOf(expr.Identifier));
    return matches.length === 1 ? matches[0] : undefined;
  }
  if ('CompoundIdentifier' in expr) {
    const names = expr.CompoundIdentifier.map(nameOf);
    return scope.findQualified(names.slice(0, -1), names.at(-1) ?? '');
  }
  return undefined;
}

function columnExpr(column: ScopeColumn): Bound {
  column.use();
  return {
    text: column.text,
    tree: column.tree,
    type: column.type,
    displayName:
      column.qualifier === undefined ? column.name : `${column.qualifier}.${column.name}`,
    hasAggregate: false,
    hasWindow: false,
    column,
  };
}

function reference(column: ScopeColumn, isOuter: boolean, env: Env): Bound {
  if (env.columnUse !== undefined) env.columnUse[isOuter ? 'isOuter' : 'isLocal'] = true;
  if (isOuter) {
    // Conditions on an outer column must not narrow the scan of the outer table.
    const { origin: _origin, ...rest } = column;
    return columnExpr({ ...rest, use: () => column.use() });
  }
  if (env.aggregation === undefined) return columnExpr(column);
  const key = env.aggregation.keyOfColumn(column);
  if (key === undefined) throw env.aggregation.ungrouped(column);
  return key.output;
}

function findUp(
  env: Env,
  find: (scope: Scope) => ScopeColumn | undefined,
): { readonly column: ScopeColumn; readonly isOuter: boolean } | undefined {
  let isOuter = false;
  for (let scope: Scope | undefined = env.scope; scope !== undefined; scope = scope.parent) {
    const column = find(scope);
    if (column !== undefined) return { column, isOuter };
    isOuter = true;
  }
  return undefined;
}

/** Formats a name for messages, quoted if it would not fold to itself. */
function shownName(names: readonly string[]): string {
  return names.map((name) => (/^[a-z_][a-z0-9_]*$/.test(name) ? name : `"${name}"`)).join('.');
}
