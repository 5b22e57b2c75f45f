import type { TableSchema } from '@plinth/tsdb-model/schema.js';
import type { Expr, VarRef } from '../../ast/expressions.js';
import { arithmeticType } from '../arithmetic.js';
import { castedType, type DataType, strongerType, typeOfKind } from '../data-type.js';
import { resultType, SCALARS, scalarType } from '../functions.js';
import { planFailure } from '../plan-failure.js';
import { columnNames } from './column-names.js';
import type { BoundSource, ExpandedSelect, SourceColumns } from './source.js';

export function columnsOf(source: BoundSource): SourceColumns {
  return source.kind === 'subquery' ? columnsOfSelect(source.select) : columnsOfTable(source.table);
}

/** Cached per schema object; a changed table has a new one. */
const tableColumns = new WeakMap<TableSchema, SourceColumns>();

function columnsOfTable(table: TableSchema): SourceColumns {
  const known = tableColumns.get(table);
  if (known !== undefined) return known;
  const fields = new Map<string, DataType>();
  const tags = new Set<string>();
  for (const column of table.columns.values()) {
    if (column.kind === 'tag') tags.add(column.name);
    else if (column.kind !== 'time') fields.set(column.name, typeOfKind(column.kind));
  }
  const columns = { fields, tags };
  tableColumns.set(table, columns);
  return columns;
}

/**
 * Returns the columns of several sources. If a name has several types, the one with the highest
 * precedence counts.
 */
export function mergedColumns(sources: readonly BoundSource[]): SourceColumns {
  const [only] = sources;
  if (only !== undefined && sources.length === 1) return columnsOf(only);
  const fields = new Map<string, DataType>();
  const tags = new Set<string>();
  for (const source of sources) {
    const columns = columnsOf(source);
    for (const [name, type] of columns.fields) {
      fields.set(name, strongerType(fields.get(name) ?? 'unknown', type));
    }
    for (const tag of columns.tags) tags.add(tag);
  }
  return { fields, tags };
}

/** Whether a name is `time` in any case and no column has exactly that name. */
export const isTimeIn =
  ({ fields, tags }: SourceColumns) =>
  (name: string): boolean =>
    name.toLowerCase() === 'time' && !fields.has(name) && !tags.has(name);

/**
 * Returns the type of a column outside of its subquery, where a tag is a string. Source:
 * query-languages, "Subqueries".
 */
export const typeOutside = (type: DataType): DataType => (type === 'tag' ? 'string' : type);

/**
 * Returns the columns that functions may use. Tags are included only if they come from subqueries.
 */
export function argumentColumns(
  sources: readonly BoundSource[],
  columns: SourceColumns,
): SourceColumns {
  if (sources.some(({ kind }) => kind === 'table')) return columns;
  const fields = new Map([...columns.tags].map((tag): [string, DataType] => [tag, 'string']));
  for (const [name, type] of columns.fields) fields.set(name, typeOutside(type));
  return { fields, tags: columns.tags };
}

const selectColumns = new WeakMap<ExpandedSelect, SourceColumns>();

function columnsOfSelect(select: ExpandedSelect): SourceColumns {
  const known = selectColumns.get(select);
  if (known !== undefined) return known;
  const inner = mergedColumns(select.bound);
  const fields = new Map<string, DataType>();
  for (const { name, expr } of columnNames(select.fields)) {
    if (!fields.has(name)) fields.set(name, typeOfExpr(expr, inner));
  }
  const tags = new Set<string>();
  for (const dimension of select.dimensions) {
    if (dimension.kind === 'var_ref') tags.add(dimension.name);
  }
  const columns = { fields, tags };
  selectColumns.set(select, columns);
  return columns;
}

export function typeOfRef(ref: VarRef, columns: SourceColumns): DataType {
  if (ref.name === 'time' && !columns.fields.has('time')) return 'time';
  const actual =
    ref.cast === 'tag'
      ? columns.tags.has(ref.name) || columns.fields.get(ref.name) === 'tag'
        ? 'tag'
        : 'unknown'
      : (columns.fields.get(ref.name) ?? (columns.tags.has(ref.name) ? 'tag' : 'unknown'));
  return castedType(actual, ref.cast);
}

/**
 * Returns the type of an expression in the select list. Throws if an operator does not accept its
 * operands.
 */
export function typeOfExpr(expr: Expr, columns: SourceColumns): DataType {
  switch (expr.kind) {
    case 'var_ref':
      return typeOfRef(expr, columns);
    case 'paren':
      return typeOfExpr(expr.inner, columns);
    case 'distinct':
      return typeOfRef({ kind: 'var_ref', name: expr.column }, columns);
    case 'call': {
      const args = expr.args.map((arg) => typeOfExpr(arg, columns));
      if (SCALARS.has(expr.name)) return scalarType(expr.name, args);
      return resultType(expr.name, args[0] ?? 'unknown');
    }
    case 'binary': {
      const left = typeOfExpr(expr.left, columns);
      const right = typeOfExpr(expr.right, columns);
      const type = arithmeticType(expr.op, left, right);
      if (type !== undefined) return type;
      throw planFailure(`incompatible operands for operator ${expr.op}: ${left} and ${right}`);
    }
    case 'integer':
      return 'integer';
    case 'unsigned':
      return 'unsigned';
    case 'number':
      return 'float';
    case 'string':
      return 'string';
    case 'boolean':
      return 'boolean';
    default:
      return 'unknown';
  }
}
