import { assertNever } from '@plinth/kernel';
import type { Column } from '../../../model/column.js';
import type { DirectRequest } from '../../../model/direct-request.js';
import type { ResultChunk } from '../../../model/result.js';
import type { SeriesIndex } from '../series-index.js';
import { answerGroups } from './answer-groups.js';
import { answerLastRows } from './answer-last.js';
import { answerRows } from './answer-rows.js';
import { isDirectKind } from './cached-rows.js';
import { selectedSeries } from './runs.js';
import type { LoadedRows, RowSource, TableColumns } from './table-columns.js';

/**
 * Answers a request from rows in memory. `undefined`: the engine has to, because not all rows are in memory, or because it
 * is the better one for this. Nothing of what is looked at changes while it is looked at.
 * @param sources unique points only: every point stands in one of them, once.
 */
export async function answerDirectly(options: {
  readonly request: DirectRequest;
  readonly sources: readonly RowSource[];
  readonly columns: TableColumns;
  readonly index: SeriesIndex;
}): Promise<Iterable<ResultChunk> | undefined> {
  const { request, sources, index } = options;
  const fields = fieldsOf(request);
  if (!fields.every((field) => isDirectKind(field.kind))) return undefined;
  const loaded: LoadedRows[] = [];
  let isComplete = true;
  for (const source of sources) {
    const rows = options.columns.find(source, fields, request);
    if (rows === undefined) isComplete = false;
    else loaded.push(...rows);
  }
  if (!isComplete) return undefined;
  const { answer } = request;
  const ask = { request, loaded, index, series: selectedSeries(request, index) };
  switch (answer.kind) {
    case 'groups':
      return await answerGroups({ ...ask, answer });
    case 'rows':
      return await answerRows({ ...ask, answer });
    case 'last':
      return answerLastRows({ ...ask, answer });
    default:
      return assertNever(answer);
  }
}

/** Fields whose values are read. */
function fieldsOf({ answer, fieldConditions }: DirectRequest): readonly Column[] {
  const fields = new Map<number, Column>();
  const columns =
    answer.kind === 'groups'
      ? answer.outputs.map((output) => ('column' in output ? output.column : undefined))
      : answer.columns;
  for (const column of [...columns, ...fieldConditions.map((condition) => condition.column)])
    if (column !== undefined && column.kind !== 'tag' && column.kind !== 'time')
      fields.set(column.id, column);
  return [...fields.values()];
}
