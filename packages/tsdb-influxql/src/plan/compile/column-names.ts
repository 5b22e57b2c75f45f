import type { Expr } from '../../ast/expressions.js';
import type { Field } from '../../ast/select.js';

export interface NamedColumn {
  readonly name: string;
  readonly expr: Expr;
  /** A tag of `top` or `bottom` that a statement with INTO writes as a tag. */
  readonly isWrittenTag: boolean;
}

/**
 * Returns the output columns without `time`; `top` and `bottom` append their tags. Duplicate names
 * are numbered, and aliases take precedence.
 * Source: query-languages, "Column names".
 */
export function columnNames(fields: readonly Field[], isWrite = false): NamedColumn[] {
  const columns = fields
    .filter(({ expr }) => !isTime(expr))
    .flatMap((field) => withTags(field, isWrite));
  const names: string[] = new Array(columns.length);
  const used = new Map<string, number>();
  columns.forEach(({ alias }, index) => {
    if (alias === undefined) return;
    names[index] = alias;
    used.set(alias, 1);
  });
  columns.forEach(({ expr, alias, isWrittenTag }, index) => {
    if (alias !== undefined) return;
    const base = nameOf(expr);
    names[index] = isWrittenTag ? base : free(base, used);
  });
  return columns.map(({ expr, isWrittenTag }, index) => ({
    expr,
    name: names[index] ?? '',
    isWrittenTag,
  }));
}

/** Returns the output name of `time`. */
export function timeName(fields: readonly Field[]): string {
  return fields.find(({ expr, alias }) => isTime(expr) && alias !== undefined)?.alias ?? 'time';
}

export function isTime(expr: Expr): boolean {
  return expr.kind === 'var_ref' && expr.name === 'time';
}

function withTags(field: Field, isWrite: boolean): (Field & { readonly isWrittenTag: boolean })[] {
  const { expr } = field;
  const own = { ...field, isWrittenTag: false };
  if (expr.kind !== 'call' || (expr.name !== 'top' && expr.name !== 'bottom')) return [own];
  return [own, ...expr.args.slice(1, -1).map((arg) => ({ expr: arg, isWrittenTag: isWrite }))];
}

function free(base: string, used: Map<string, number>): string {
  const count = used.get(base);
  if (count === undefined) {
    used.set(base, 1);
    return base;
  }
  for (let n = count; ; n++) {
    const name = `${base}_${n}`;
    if (used.has(name)) continue;
    used.set(base, n + 1);
    used.set(name, 1);
    return name;
  }
}

export function nameOf(expr: Expr): string {
  switch (expr.kind) {
    case 'var_ref':
      return expr.name;
    case 'call':
      return expr.name;
    case 'distinct':
      return 'distinct';
    case 'paren':
      return nameOf(expr.inner);
    case 'binary':
      return namesIn(expr).join('_');
    default:
      return '';
  }
}

function namesIn(expr: Expr): string[] {
  switch (expr.kind) {
    case 'var_ref':
    case 'call':
      return [expr.name];
    case 'paren':
      return namesIn(expr.inner);
    case 'binary':
      return [...namesIn(expr.left), ...namesIn(expr.right)];
    default:
      return [];
  }
}
