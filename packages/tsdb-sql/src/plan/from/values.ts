import { tsdbError } from '@plinth/tsdb-model/errors.js';
import { convert } from '../../bind/expr/convert.js';
import { Scope } from '../../bind/scope.js';
import type { BoundQuery, Env, QueryEnv } from '../../bind/session.js';
import { unionType } from '../../bind/types/common-type.js';
import type { ValuesNode } from '../../parse/ast.js';
import { unverified } from '../../plan-tree.js';

/** Binds `VALUES (…), (…)`: columns `column1`, `column2`, … with the common types of all rows. */
export function bindValues(node: ValuesNode, around: QueryEnv): BoundQuery {
  const env: Env = {
    ...around,
    scope: new Scope({ relations: [], visible: [], parent: around.outer }),
    windows: new Map(),
    noAggregate: 'Aggregate functions are not allowed in VALUES',
    noWindow: 'Window functions are not allowed in VALUES',
  };
  const rows = node.rows.map((row) =>
    row.content.map((expr) => around.session.bindExpr(expr, env)),
  );
  const columnCount = rows[0]?.length ?? 0;
  for (const [index, row] of rows.entries()) {
    if (row.length === columnCount) continue;
    throw tsdbError(
      'plan_error',
      `Error during planning: Inconsistent data length across values list: got ${row.length} values in row ` +
        `${index} but expected ${columnCount}`,
    );
  }
  const columns = Array.from({ length: columnCount }, (_, index) => {
    const type = unionType(
      rows.map((row) => row[index]?.type ?? { kind: 'null' }),
      true,
    );
    if (type === undefined) {
      throw tsdbError(
        'plan_error',
        `Error during planning: Inconsistent data type across values list at column ${index}`,
      );
    }
    return {
      name: `column${index + 1}`,
      qualifier: undefined,
      type,
      tableColumnKind: undefined,
      duckDbName: `c${index}`,
    };
  });
  const lines = rows.map(
    (row) =>
      `(${row.map((cell, index) => convert(cell, columns[index]?.type ?? cell.type).text).join(', ')})`,
  );
  const names = columns.map((column) => column.duckDbName).join(', ');
  const alias = around.session.newName('x');
  return {
    text: `SELECT ${names} FROM (VALUES ${lines.join(', ')}) AS ${alias}(${names})`,
    tree: unverified('VALUES'),
    columns,
    tableName: undefined,
  };
}
