import { printSelect } from './ast/print.js';
import type { ExplainStatement } from './ast/statements.js';
import { runSelect } from './execute/run-select.js';
import type { Session } from './execute/session.js';
import type { CompiledSelect } from './plan/compile/compiled-select.js';
import { listResult, type StatementResult, textColumn } from './result.js';

/** Returns the statement as it will run and the length of each DuckDB query. */
export async function explainSelect(
  { select: statement, analyze: isAnalyzed }: ExplainStatement,
  select: CompiledSelect,
  of: Session,
): Promise<StatementResult> {
  const lines: string[] = [];
  const session: Session = {
    ...of,
    select: (inner) => runSelect(inner, session),
    read: (statement) => {
      const scans = statement.scans.map(
        ({ table, columns, tagConditions }) =>
          `scan ${table.name} columns=[${columns.join(', ')}] tags=[${tagConditions.map(({ tag, values }) => `${tag} in ${values.length}`).join(', ')}]`,
      );
      lines.push(
        ...scans,
        statement.render((index) => `scan_${index}`),
      );
      return of.read(statement);
    },
  };
  const isDry: Session = isAnalyzed
    ? session
    : {
        ...session,
        select: (inner) => runSelect(inner, isDry),
        read: (each) => skipped(session.read(each)),
      };
  let rowCount = 0;
  let seriesCount = 0;
  for await (const { times } of runSelect(select, isDry)) {
    rowCount += times.length;
    seriesCount++;
  }
  const plan = lines.join('\n');
  const rows = isAnalyzed
    ? [['Plan with Metrics', `${plan}\nseries=${seriesCount} rows=${rowCount}`]]
    : [
        ['logical_plan', printSelect(statement)],
        ['physical_plan', plan],
      ];
  return listResult([textColumn('plan_type'), textColumn('plan')], [{ name: 'plan', rows }]);
}

/** Reads nothing from its source. */
async function* skipped<T>(_items: AsyncIterable<T>): AsyncGenerator<T, void, undefined> {
  // EXPLAIN runs no DuckDB query.
}
