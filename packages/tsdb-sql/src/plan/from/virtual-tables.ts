import type { OutputColumn } from '@plinth/tsdb-model/columns/result.js';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import type { VirtualTable } from '@plinth/tsdb-model/query/planned-query.js';
import type { SqlType } from '@plinth/tsdb-model/sql-type.js';
import type { BoundQuery, Session, VirtualQuery } from '../../bind/session.js';
import { constantText, INT64 } from '../../bind/types/bound.js';
import type { ConstantValue } from '../../bound-expr.js';
import { duckDbType } from '../../emit/duckdb-type.js';
import { quoteString } from '../../emit/quote.js';
import { unverified } from '../../plan-tree.js';
import { informationSchemaTable } from '../information-schema.js';
import { parameterCallCount } from '../routine-parameters.js';

/** Maximum number of rows of a virtual table, which are written into the query text. */
const MAX_VIRTUAL_ROWS = 100_000;
/** Number of rows and characters that can be written in the time it takes to bind an expression. */
const ROWS_PER_EXPRESSION = 4;
const CHARACTERS_PER_EXPRESSION = 1024;

/** Returns the table as a query, which is created once per statement. */
export function virtualQuery(
  schema: string,
  name: string,
  session: Session,
): VirtualQuery | undefined {
  const key = JSON.stringify([schema, name]);
  const known = session.virtualQueries.get(key);
  if (known !== undefined) {
    session.spend(Math.ceil(known.query.text.length / CHARACTERS_PER_EXPRESSION));
    return known;
  }
  const table = findVirtualTable(schema, name, session);
  if (table === undefined) return undefined;
  const made = { table, query: virtualTableQuery(table, session.spend) };
  session.virtualQueries.set(key, made);
  return made;
}

function findVirtualTable(
  schema: string,
  name: string,
  session: Session,
): VirtualTable | undefined {
  if (schema === 'information_schema') {
    const { tables } = session.context.database;
    let rowCount = tables.size;
    if (name === 'columns') for (const { columns } of tables.values()) rowCount += columns.size;
    // Count before creating the rows.
    session.spend(Math.ceil(rowCount / ROWS_PER_EXPRESSION));
    refuseTooMany(rowCount);
    if (name === 'parameters') session.spend(parameterCallCount(session.functions));
    return informationSchemaTable(name, session.context, session.functions);
  }
  return session.context.virtualTables.table(schema, name);
}

function refuseTooMany(rowCount: number): void {
  if (rowCount <= MAX_VIRTUAL_ROWS) return;
  throw tsdbError('not_implemented', `virtual tables with more than ${MAX_VIRTUAL_ROWS} rows`);
}

/** Returns the table as a query over a list of rows. */
export function virtualTableQuery(
  table: VirtualTable,
  spend: Session['spend'] = () => undefined,
): BoundQuery {
  const rows = table.rows();
  spend(Math.ceil(rows.length / ROWS_PER_EXPRESSION));
  refuseTooMany(rows.length);
  const columns = table.columns.map((column, index) => ({
    name: column.name,
    qualifier: undefined,
    type: column.type,
    tableColumnKind: column.tableColumnKind,
    duckDbName: `c${index}`,
  }));
  const text = rowsText(table.columns, rows);
  spend(Math.ceil(text.length / CHARACTERS_PER_EXPRESSION));
  return {
    text,
    tree: unverified('a virtual table'),
    columns,
    tableName: undefined,
  };
}

/**
 * Returns one list per column. JSON is a single constant in DuckDB, whereas `VALUES` has an
 * expression per cell and takes half a second for a thousand rows.
 */
export function rowsText(
  columns: readonly Pick<OutputColumn, 'type'>[],
  rows: readonly (readonly unknown[])[],
): string {
  if (rows.length === 0) {
    const empty = columns.map(
      (column, index) => `CAST(NULL AS ${duckDbType(column.type)}) AS c${index}`,
    );
    return `SELECT ${empty.join(', ')} WHERE false`;
  }
  const lists = columns.map(({ type }, index) => {
    const cells = rows.map((row) => row[index]);
    return `${columnText(cells, type)} AS c${index}`;
  });
  return `SELECT ${lists.join(', ')}`;
}

function columnText(cells: readonly unknown[], type: SqlType): string {
  const structure = jsonStructure(type.kind === 'timestamp' ? INT64 : type);
  if (structure === undefined) {
    const texts = cells.map((cell) => cellText(cell, type));
    return `unnest([${texts.join(', ')}])`;
  }
  const list = `[${cells.map(jsonText).join(',')}]`;
  const values = `unnest(from_json(${quoteString(list)}, ${quoteString(`[${structure}]`)}))`;
  return type.kind === 'timestamp' ? `make_timestamp_ns(${values})` : values;
}

/**
 * Returns the type for `from_json`, or `undefined` for values that JSON cannot represent exactly.
 */
function jsonStructure(type: SqlType): string | undefined {
  switch (type.kind) {
    case 'boolean':
    case 'int':
    case 'utf8':
    case 'tag':
    case 'time':
    case 'duration':
      return `"${duckDbType(type)}"`;
    case 'list': {
      const element = jsonStructure(type.element);
      return element && `[${element}]`;
    }
    default:
      return undefined;
  }
}

function jsonText(cell: unknown): string {
  if (cell === undefined || cell === null) return 'null';
  if (Array.isArray(cell)) return `[${cell.map(jsonText).join(',')}]`;
  // DuckDB rejects unpaired surrogates.
  if (typeof cell === 'string') return JSON.stringify(cell.replace(/\p{Surrogate}/gu, '\ufffd'));
  return String(cell);
}

function cellText(cell: unknown, type: SqlType): string {
  if (cell === undefined || cell === null) return `CAST(NULL AS ${duckDbType(type)})`;
  if (type.kind === 'list' && Array.isArray(cell)) {
    const items = cell.map((item: unknown) => cellText(item, type.element));
    return `CAST([${items.join(', ')}] AS ${duckDbType(type)})`;
  }
  // Cells have the representation that `SqlType` documents for the column type.
  return constantText(cell as ConstantValue, type);
}
