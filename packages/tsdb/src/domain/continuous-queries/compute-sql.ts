import type { Clock } from '@plinth/kernel';
import { escapedKey, escapedTable, quotedText } from '@plinth/line-protocol';
import type { OutputColumn, ResultChunk } from '@plinth/tsdb-model/columns/result.js';
import { isValid } from '@plinth/tsdb-model/columns/row-batch.js';
import type { Engine } from '@plinth/tsdb-model/engine.js';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import type { PlannedQuery } from '@plinth/tsdb-model/query/planned-query.js';
import type { SqlType } from '@plinth/tsdb-model/sql-type.js';
import { floorMod, isoOf } from '@plinth/tsdb-model/time/calendar.js';
import { QUERY_ACCESS } from './compute-influxql.js';
import type { QueryDefinition } from './continuous-query-records.js';
import type { QueryWork, TimeRange } from './query-runner.js';

type Rollup = Extract<QueryDefinition, { readonly language: 'sql' }>;

interface RollupContext {
  readonly database: string;
  readonly engine: Engine;
  readonly clock: Clock;
}

/** Prepares a query that computes the rows from `$from` to before `$to`. */
export function sqlWork(rollup: Rollup, context: RollupContext): QueryWork {
  const { everyNs, forNs, table } = rollup;
  const start = (timeNs: bigint): bigint => timeNs - floorMod(timeNs, everyNs);
  return {
    timing: {
      ...{ intervalNs: everyNs, everyNs, forNs },
      ...{ intervalStart: start, runStart: start },
      runEnd: (timeNs) => start(timeNs) + everyNs,
    },
    target: table,
    compute: (range, signal) => computeRows(rollup, { ...context, range, signal }),
  };
}

/** Throws `continuous_query_invalid` if the results cannot be written, and the errors of the query. */
export async function checkRollup(
  { text }: Rollup,
  { database, engine }: Pick<RollupContext, 'database' | 'engine'>,
): Promise<void> {
  const range = { fromNs: 0n, toNs: 1n };
  const params = new Map(Object.entries(boundsOf(range)));
  const shape = await engine.describe({
    ...{ database, access: QUERY_ACCESS, language: 'sql', text, params },
    isInternal: true,
  });
  if (!/\$from\b/i.test(text) || !/\$to\b/i.test(text)) {
    throw invalid(
      'the query must select its time range; add WHERE time >= $from AND time < $to before GROUP BY',
    );
  }
  lineWriter('t', shape.columns);
}

/** Returns the bounds as SQL parameters. */
const boundsOf = ({ fromNs, toNs }: TimeRange): { from: string; to: string } => ({
  from: isoOf(fromNs),
  to: isoOf(toNs),
});

async function computeRows(
  { text, table }: Rollup,
  context: RollupContext & { readonly range: TimeRange; readonly signal: AbortSignal },
): Promise<bigint> {
  const { database, engine, clock, range, signal } = context;
  const result = await engine.query({
    ...{ database, access: QUERY_ACCESS, language: 'sql', text, signal, isInternal: true },
    params: new Map(Object.entries(boundsOf(range))),
  });
  const linesOf = lineWriter(table, result.columns);
  let writtenCount = 0n;
  for await (const chunk of result.chunks) {
    const lines = linesOf(chunk);
    if (lines.length === 0) continue;
    const body = Buffer.from(lines.join('\n'));
    const { refused } = await engine.write({
      ...{ database, access: QUERY_ACCESS, body, encoding: 'identity' },
      ...{ maxSizeBytes: body.length, precision: 'nanosecond', acceptPartial: false },
      ...{ noSync: false, receivedNs: clock.nowNs() },
    });
    const [first] = refused;
    if (first !== undefined) {
      throw tsdbError('plan_error', `cannot write to table "${table}": ${first.message}`);
    }
    writtenCount += BigInt(lines.length);
  }
  return writtenCount;
}

type Columns = PlannedQuery['columns'];
type LinesOf = (chunk: ResultChunk) => string[];

interface LineOptions {
  /** Decides which columns become tags; absent if the tags of the result become tags. */
  readonly isTag?: (column: OutputColumn) => boolean;
  /** Formats floats; absent if infinities and NaN are omitted. */
  readonly floatText?: (value: number) => string;
  /** Escapes names and tag values; absent if tabs and newlines are stored with a backslash. */
  readonly keyText?: (text: string) => string;
}

/**
 * Returns a function that converts rows to line protocol. Tag columns become tags, and all other
 * columns fields; rows without fields are omitted. Throws `continuous_query_invalid`.
 */
export function lineWriter(table: string, columns: Columns, options: LineOptions = {}): LinesOf {
  const { isTag = ({ type }: OutputColumn) => type.kind === 'tag', floatText } = options;
  const { keyText = escapedKey } = options;
  const time = columns.findIndex(({ name, type }) => name === 'time' && type.kind === 'timestamp');
  if (time < 0) {
    throw invalid(
      'the result must have a timestamp column named "time"; use date_bin(...) AS time',
    );
  }
  const others = columns.map((column, index) => ({ column, index })).filter((_, i) => i !== time);
  const tags = others.filter(({ column }) => isTag(column));
  const fields = others
    .filter(({ column }) => !isTag(column))
    .map(({ column, index }) => ({ column, index, format: formatOf(column, floatText) }));
  if (fields.length === 0) {
    throw invalid('the result has no fields; select a column other than "time" and the tags');
  }
  const head = escapedTable(table);
  return (chunk) => {
    const lines: string[] = [];
    for (let row = 0; row < chunk.rowCount; row++) {
      const cell = (index: number): unknown => {
        const vector = chunk.columns[index];
        return vector !== undefined && isValid(vector.validity, row)
          ? vector.values[row]
          : undefined;
      };
      let line = head;
      for (const { column, index } of tags) {
        const value = cell(index);
        if (value) line += `,${keyText(column.name)}=${keyText(String(value))}`;
      }
      const parts = fields.flatMap(({ column, index, format }) => {
        const value = cell(index);
        const text = value === undefined ? undefined : format(value);
        return text === undefined ? [] : [`${keyText(column.name)}=${text}`];
      });
      if (parts.length === 0) continue;
      const timeNs = cell(time);
      if (timeNs === undefined)
        throw tsdbError(
          'plan_error',
          'column "time" is NULL in a row of the result; exclude rows without a timestamp',
        );
      lines.push(`${line} ${parts.join(',')} ${timeNs}`);
    }
    return lines;
  };
}

/** Returns the function that formats a field. Throws `continuous_query_invalid`. */
function formatOf(
  { name, type }: OutputColumn,
  floatText: LineOptions['floatText'],
): (value: unknown) => string | undefined {
  switch (type.kind) {
    case 'float':
      if (floatText !== undefined) return (value) => floatText(Number(value));
      return (value) => (Number.isFinite(value) ? String(value) : undefined);
    case 'int':
      return isUnsigned(type) ? (value) => `${value}u` : (value) => `${value}i`;
    case 'boolean':
      return (value) => String(Boolean(value));
    case 'utf8':
      return (value) => quotedText(String(value));
    default:
      throw invalid(
        `column "${name}" has a type that a table cannot store; cast it to a float, an integer, a boolean or a string`,
      );
  }
}

const isUnsigned = (type: SqlType): boolean =>
  type.kind === 'int' && type.bits === 64 && !type.signed;

const invalid = (why: string): Error => tsdbError('continuous_query_invalid', why);
