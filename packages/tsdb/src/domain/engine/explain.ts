import type { OutputColumn, ResultChunk } from '../../model/result.js';
import type { DuckDbHost } from '../../storage/duckdb/duckdb-host.js';

const TEXT = { kind: 'utf8' } as const;

export const EXPLAIN_COLUMNS: readonly OutputColumn[] = [
  { name: 'plan_type', type: TEXT, source: undefined },
  { name: 'plan', type: TEXT, source: undefined },
];

/** The engine's names for its plans, in those of the documented answer; its unoptimised plan is left out. */
const PLAN_TYPE: Readonly<Record<string, string>> = {
  logical_opt: 'logical_plan',
  physical_plan: 'physical_plan',
  analyzed_plan: 'Plan with Metrics',
};

/** How the engine would run the text, or did. Source: query-languages, "SQL: statements". */
export async function explain(
  host: DuckDbHost,
  text: string,
  kind: 'plan' | 'analyze',
): Promise<ResultChunk> {
  const rows = await host.rows(`EXPLAIN ${kind === 'analyze' ? 'ANALYZE ' : ''}${text}`);
  const plans = rows.flatMap(([engineType, plan]) => {
    const type = PLAN_TYPE[String(engineType)];
    return type === undefined ? [] : [[type, String(plan)] as const];
  });
  return {
    rowCount: plans.length,
    columns: [0, 1].map((i) => ({ values: plans.map((plan) => plan[i]), validity: undefined })),
  };
}
