import type { ResultChunk } from '@plinth/tsdb-model/columns/result.js';

/** Maps DuckDB's plan types to the names in the specification; the unoptimized plan is omitted. */
const PLAN_TYPES: ReadonlyMap<string, string> = new Map([
  ['logical_opt', 'logical_plan'],
  ['physical_plan', 'physical_plan'],
  ['analyzed_plan', 'Plan with Metrics'],
]);

/**
 * DuckDB draws each operator as a box of this many characters, with boxes of one depth side by
 * side.
 */
const BOX_WIDTH = 29;

/**
 * Returns the result of EXPLAIN: columns `plan_type` and `plan`. Source: query-languages, "SQL:
 * statements".
 */
export async function* explainedRows(
  chunks: AsyncIterable<ResultChunk>,
): AsyncGenerator<ResultChunk, void, undefined> {
  const types: string[] = [];
  const plans: string[] = [];
  for await (const { rowCount, columns } of chunks) {
    for (let row = 0; row < rowCount; row++) {
      const type = PLAN_TYPES.get(String(columns[0]?.values[row]));
      if (type === undefined) continue;
      types.push(type);
      plans.push(withoutFileNames(withoutQueryText(String(columns[1]?.values[row]))));
    }
  }
  yield {
    rowCount: types.length,
    columns: [types, plans].map((values) => ({ values, validity: undefined })),
  };
}

/** Removes the title of a measured plan and the generated SQL text below it. */
function withoutQueryText(plan: string): string {
  const start = plan.indexOf('\nEXPLAIN ANALYZE ');
  if (start < 0) return plan;
  const end = plan.indexOf('\n┌', start);
  return end < 0 ? plan : plan.slice(end + 1);
}

/** Blanks out the lines from `Filename(s):` to the next empty one, box by box. */
function withoutFileNames(plan: string): string {
  const isHiding: boolean[] = [];
  const lines = plan.split('\n').map((line) => {
    const boxes = line.match(new RegExp(`.{1,${BOX_WIDTH}}`, 'gu')) ?? [];
    return boxes
      .map((box, index) => {
        const text = box.slice(1, -1).trim();
        if (text === 'Filename(s):') isHiding[index] = true;
        else if (text === '' || !box.startsWith('│')) isHiding[index] = false;
        return isHiding[index] ? `│${' '.repeat(box.length - 2)}│` : box;
      })
      .join('');
  });
  return lines.join('\n');
}
