import { escapedKey, escapedTable, quotedText } from '@plinth/line-protocol';
import type { CatalogView } from '@plinth/tsdb-catalog/access/catalog-view.js';
import type { Engine } from '@plinth/tsdb-model/engine.js';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import { TimeSlicedTask } from '@plinth/tsdb-model/time-sliced-task.js';
import type { Measurement } from '../ast/select.js';
import type { Series } from '../execute/series/series.js';
import { exactValue } from '../execute/series/vector-values.js';
import type { Session } from '../execute/session.js';
import { ValueBudget } from '../execute/value-budget.js';
import type { CompiledSelect, OutputField } from '../plan/compile/compiled-select.js';
import { databaseOf } from '../plan/compile/find-sources.js';
import type { Value } from '../plan/data-type.js';
import type { Environment } from '../plan/environment.js';
import type { StatementResult } from '../result.js';
import { listResult } from '../result.js';

const BATCH_LINES = 5000;

/**
 * Runs `SELECT ... INTO`. Grouping tags and tags of `top` and `bottom` are written as tags, other
 * columns as fields.
 */
export async function selectInto(
  target: Measurement,
  select: CompiledSelect,
  rows: AsyncIterable<Series>,
  options: {
    readonly engine: Engine;
    readonly view: CatalogView;
    readonly env: Environment;
    readonly nowNs: bigint;
    readonly session: Session;
  },
): Promise<StatementResult> {
  const { access } = options.view;
  const databaseToWrite = (name: string) => options.view.databaseToWrite(name);
  const database = databaseOf(target, { ...options.env, databaseOf: databaseToWrite }).name;
  const keepsNames = target.name === ':MEASUREMENT';
  // Read all rows before writing if the statement reads its own target.
  const mustBuffer = tableNames(select).some(
    (source) => source.database === database && (keepsNames || source.table === target.name),
  );
  const layout = layoutOf(select);
  let lines: string[] = [];
  let written = 0n;
  const budget = new ValueBudget(options.session);
  const task = new TimeSlicedTask(options.session);
  let refusal: string | undefined;
  let refusedCount = 0;
  const flush = async (batch: readonly string[]): Promise<void> => {
    if (batch.length === 0) return;
    const body = Buffer.from(batch.join('\n'));
    const { writtenCount, lineCount, refused } = await options.engine.write({
      database,
      access,
      body,
      encoding: 'identity',
      maxSizeBytes: body.length,
      precision: 'nanosecond',
      acceptPartial: true,
      noSync: false,
      receivedNs: options.nowNs,
    });
    written += BigInt(writtenCount);
    refusal ??= refused[0]?.message;
    refusedCount += lineCount - writtenCount;
  };
  for await (const series of rows) {
    const head = headOf(
      keepsNames ? series.name : String(target.name),
      select.groupTags,
      series.tags,
    );
    for (let row = 0; row < series.times.length; row++) {
      const fields = fieldsOf(layout.fields, series, row);
      if (fields === '') continue;
      lines.push(`${head}${tagsOf(layout.tags, series, row)} ${fields} ${series.times[row]}`);
      await task.yieldIfDue();
      if (mustBuffer) {
        budget.add(select.fields.length + 1);
        continue;
      }
      if (lines.length < BATCH_LINES) continue;
      await flush(lines);
      lines = [];
    }
  }
  for (let from = 0; from < lines.length; from += BATCH_LINES)
    await flush(lines.slice(from, from + BATCH_LINES));
  if (refusal !== undefined) {
    throw tsdbError('plan_error', `partial write: ${refusal} dropped=${refusedCount}`);
  }
  return listResult(
    [
      { name: 'time', type: 'time' },
      { name: 'written', type: 'integer' },
    ],
    [{ name: 'result', rows: [[0n, written]] }],
  );
}

function tableNames({
  sources,
}: CompiledSelect): { readonly database: string; readonly table: string }[] {
  return sources.flatMap((source) =>
    source.kind === 'table'
      ? [{ database: source.database.name, table: source.name }]
      : tableNames(source.select),
  );
}

function headOf(name: string, tags: readonly string[], values: readonly string[]): string {
  let head = escapedTable(name);
  tags.forEach((tag, i) => {
    const value = values[i];
    if (value) head += `,${escapedKey(tag)}=${escapedKey(value)}`;
  });
  return head;
}

interface OutputPlace {
  readonly field: OutputField;
  /** Index of the column in the series. */
  readonly index: number;
}

function layoutOf({ fields }: CompiledSelect): {
  readonly tags: readonly OutputPlace[];
  readonly fields: readonly OutputPlace[];
} {
  const places = fields.map((field, index) => ({ field, index }));
  return {
    tags: places.filter(({ field }) => field.isWrittenTag),
    fields: places.filter(({ field }) => !field.isWrittenTag),
  };
}

function tagsOf(places: readonly OutputPlace[], series: Series, row: number): string {
  let text = '';
  for (const { field, index } of places) {
    const value = series.columns[index]?.[row];
    if (typeof value === 'string' && value !== '') {
      text += `,${escapedKey(field.name)}=${escapedKey(value)}`;
    }
  }
  return text;
}

function fieldsOf(places: readonly OutputPlace[], series: Series, row: number): string {
  const parts: string[] = [];
  for (const { field, index } of places) {
    const value = series.columns[index]?.[row] ?? null;
    const isInteger = field.type === 'integer' || field.type === 'unsigned';
    const text = fieldText(isInteger ? exactValue(value) : value, field.type === 'unsigned');
    if (text !== undefined) parts.push(`${escapedKey(field.name)}=${text}`);
  }
  return parts.join(',');
}

function fieldText(value: Value, isUnsigned: boolean): string | undefined {
  switch (typeof value) {
    case 'number':
      return Number.isFinite(value) ? String(value) : undefined;
    case 'bigint':
      return `${value}${isUnsigned ? 'u' : 'i'}`;
    case 'string':
      return quotedText(value);
    case 'boolean':
      return String(value);
    default:
      return undefined;
  }
}
