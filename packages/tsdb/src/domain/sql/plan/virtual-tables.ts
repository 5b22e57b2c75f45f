import { NotImplemented } from '../../../errors.js';
import type { OutputColumn } from '../../../model/result.js';
import type { SqlType } from '../../../model/sql-type.js';
import { constantText } from '../bind/bound.js';
import type { BoundQuery, Session } from '../bind/session.js';
import type { ConstantValue } from '../bound-expr.js';
import { engineType } from '../emit/engine-type.js';
import type { PlanContext, VirtualTable } from '../planned-query.js';
import { informationSchemaTable } from './information-schema.js';

/** Rows of a table without storage are written into the query's text, so they are few. */
const MAX_VIRTUAL_ROWS = 100_000;

export function findVirtualTable(
  schema: string,
  name: string,
  context: PlanContext,
): VirtualTable | undefined {
  if (schema === 'information_schema') return informationSchemaTable(name, context);
  return context.virtualTables.table(schema, name);
}

/** The table as a query over a list of rows. */
export function virtualTableQuery(
  table: VirtualTable,
  session: Pick<Session, 'newName'>,
): BoundQuery {
  const rows = table.rows();
  if (rows.length > MAX_VIRTUAL_ROWS) {
    throw new NotImplemented(`tables without storage of more than ${MAX_VIRTUAL_ROWS} rows`);
  }
  const columns = table.columns.map((column, index) => ({
    name: column.name,
    qualifier: undefined,
    type: column.type,
    source: column.source,
    engineName: `c${index}`,
  }));
  return {
    text: rowsText(table.columns, rows, session.newName('x')),
    columns,
    tableName: undefined,
  };
}

function rowsText(
  columns: readonly OutputColumn[],
  rows: readonly (readonly unknown[])[],
  alias: string,
): string {
  const names = columns.map((_, index) => `c${index}`).join(', ');
  if (rows.length === 0) {
    const empty = columns.map(
      (column, index) => `CAST(NULL AS ${engineType(column.type)}) AS c${index}`,
    );
    return `SELECT ${empty.join(', ')} WHERE false`;
  }
  const lines = rows.map(
    (row) => `(${columns.map((column, index) => cellText(row[index], column.type)).join(', ')})`,
  );
  return `SELECT ${names} FROM (VALUES ${lines.join(', ')}) AS ${alias}(${names})`;
}

function cellText(cell: unknown, type: SqlType): string {
  if (cell === undefined || cell === null) return `CAST(NULL AS ${engineType(type)})`;
  if (type.kind === 'list' && Array.isArray(cell)) {
    const items = cell.map((item: unknown) => cellText(item, type.element));
    return `CAST([${items.join(', ')}] AS ${engineType(type)})`;
  }
  // Cells are of the kinds that the table at `SqlType` names for their column's type.
  return constantText(cell as ConstantValue, type);
}
