import type { Influxql } from '@plinth/tsdb-influxql/influxql.js';
import type { ResultBlock } from '@plinth/tsdb-influxql/result.js';
import { labelOfTag, METRIC_LABEL } from '@plinth/tsdb-ingest/messages/label-rules.js';
import { STALE_FIELD, VALUE_FIELD } from '@plinth/tsdb-ingest/messages/row-fields.js';
import { compareByteOrder } from '@plinth/tsdb-model/byte-order.js';
import type { ColumnVector } from '@plinth/tsdb-model/columns/result.js';
import type { DatabaseAccess } from '@plinth/tsdb-model/database/database-access.js';
import { MAX_TIME_NS, MIN_TIME_NS } from '@plinth/tsdb-model/scan.js';
import type { DatabaseSchema, TableSchema } from '@plinth/tsdb-model/schema.js';
import { chunkOf } from '../influxql/result-chunks.js';
import { LabelMatchers, quoted } from './label-matchers.js';
import type { ReadQuery } from './read-request.js';
import { type Labels, PieceWriter, type SamplePiece } from './sample-pieces.js';

/** Maximum number of tables in one InfluxQL request. */
const MAX_TABLES = 100;
const NS_PER_MS = 1_000_000n;
/** The number of milliseconds and nanoseconds in 2^32 nanoseconds. */
const WORD_MS = 4294;
const WORD_NS = 967_296;

export interface SampleSource {
  readonly influxql: Influxql;
  readonly database: DatabaseSchema;
  readonly access: DatabaseAccess;
  readonly signal: AbortSignal;
}

/**
 * Reads the samples of all series that match. The pieces of a series arrive one after the other.
 * Series are in the order of InfluxQL: by table, then by tag values.
 */
export async function* readSamples(
  query: ReadQuery,
  source: SampleSource,
): AsyncGenerator<SamplePiece, void, undefined> {
  const matchers = await LabelMatchers.of(query.matchers);
  const tables = [...source.database.tables.values()]
    .filter((table) => hasSamples(table) && matchers.acceptsTable(table))
    .sort((a, b) => compareByteOrder(a.name, b.name));
  for (let from = 0; from < tables.length; from += MAX_TABLES)
    yield* readTables(tables.slice(from, from + MAX_TABLES), query, matchers, source);
}

async function* readTables(
  tables: readonly TableSchema[],
  query: ReadQuery,
  matchers: LabelMatchers,
  { influxql, database, access, signal }: SampleSource,
): AsyncGenerator<SamplePiece, void, undefined> {
  const run = await influxql.open({
    text: tables.map((table) => statementOf(table, query, matchers)).join(';'),
    database: database.name,
    policy: 'autogen',
    params: new Map(),
    isReadOnly: true,
    access,
    signal,
  });
  const piece = new PieceWriter();
  let outcome: 'success' | 'fail' | 'cancel' = 'cancel';
  try {
    for (const [index, table] of tables.entries()) {
      const { tagNames, blocks } = await run.execute(index);
      const seriesOf = new SeriesNames(table.name, tagNames, matchers);
      for await (const block of blocks) yield* piecesOf(block, seriesOf, table, piece);
    }
    outcome = 'success';
  } catch (error) {
    outcome = 'fail';
    throw error;
  } finally {
    run.end(outcome);
  }
}

const isNumber = (table: TableSchema, name: string): boolean =>
  /^(?:float64|int64|uint64)$/.test(table.columns.get(name)?.kind ?? '');

const hasStale = ({ columns }: TableSchema): boolean => columns.get(STALE_FIELD)?.kind === 'bool';

const hasSamples = (table: TableSchema): boolean => isNumber(table, VALUE_FIELD) || hasStale(table);

function statementOf(table: TableSchema, query: ReadQuery, matchers: LabelMatchers): string {
  const fields = [
    ...(isNumber(table, VALUE_FIELD) ? [VALUE_FIELD] : []),
    ...(hasStale(table) ? [STALE_FIELD] : []),
  ];
  const where = [
    `time >= ${nanoseconds(query.startMs)}`,
    `time <= ${nanoseconds(query.endMs, NS_PER_MS - 1n)}`,
    ...matchers.conditions(table),
  ];
  const selected = fields.map((name) => quoted(name, '"')).join(', ');
  return `SELECT ${selected} FROM ${quoted(table.name, '"')} WHERE ${where.join(' AND ')} GROUP BY *`;
}

/** Prometheus sends the smallest and largest integers for open ranges. */
function nanoseconds(timeMs: number, moreNs = 0n): bigint {
  const ns = BigInt(timeMs) * NS_PER_MS + moreNs;
  if (ns < MIN_TIME_NS) return MIN_TIME_NS;
  return ns > MAX_TIME_NS ? MAX_TIME_NS : ns;
}

/** The labels of the series of one table. */
class SeriesNames {
  readonly #metric: string;
  readonly #tags: readonly { readonly label: string; readonly index: number }[];
  readonly #matchers: LabelMatchers;

  constructor(metric: string, tagNames: readonly string[], matchers: LabelMatchers) {
    this.#metric = metric;
    // Rows from InfluxDB 1.x have the metric as a tag too.
    this.#tags = tagNames
      .map((name, index) => ({ label: labelOfTag(name), index }))
      .filter(({ label }) => label !== METRIC_LABEL)
      .concat({ label: METRIC_LABEL, index: -1 })
      .sort((a, b) => compareByteOrder(a.label, b.label));
    this.#matchers = matchers;
  }

  /** Returns `undefined` for a series that does not match. */
  labelsOf(tags: readonly string[]): Labels | undefined {
    const labels: (readonly [string, string])[] = [];
    for (const { label, index } of this.#tags) {
      const value = index < 0 ? this.#metric : (tags[index] ?? '');
      if (value !== '') labels.push([label, value]);
    }
    const labelValue = (label: string): string =>
      labels.find(([name]) => name === label)?.[1] ?? '';
    return this.#matchers.acceptsLabels(labelValue) ? labels : undefined;
  }
}

function* piecesOf(
  block: ResultBlock,
  series: SeriesNames,
  table: TableSchema,
  piece: PieceWriter,
): Generator<SamplePiece, void, undefined> {
  const [times, ...fields] = chunkOf(block).columns;
  const values = isNumber(table, VALUE_FIELD) ? fields[0] : undefined;
  const stale = hasStale(table) ? fields.at(-1) : undefined;
  if (times === undefined) return;
  for (const { tags, from, to } of block.spans) {
    const labels = series.labelsOf(tags);
    if (labels === undefined) continue;
    piece.start(to - from);
    for (let row = from; row < to; row++) {
      const value = values && cellOf(values, row);
      if (value !== null && value !== undefined) piece.add(timeMsOf(times, row), Number(value));
      else if (stale !== undefined) {
        const isStale = cellOf(stale, row);
        if (isStale !== null) piece.addNaN(timeMsOf(times, row), Boolean(isStale));
      }
    }
    yield piece.finish(labels);
  }
}

function cellOf({ values, validity }: ColumnVector, row: number): unknown {
  if (validity !== undefined && (((validity[row >> 3] as number) >> (row & 7)) & 1) === 0)
    return null;
  return values[row] ?? null;
}

/** Milliseconds of a timestamp, rounded down. Words are much faster than `bigint`. */
function timeMsOf({ values }: ColumnVector, row: number): number {
  if (!(values instanceof BigInt64Array)) {
    const ns = BigInt.asIntN(64, values[row] as bigint);
    return wordsToMs(Number(BigInt.asUintN(32, ns)), Number(ns >> 32n));
  }
  let words = WORDS.get(values);
  if (words === undefined) {
    words = new Int32Array(values.buffer, values.byteOffset, 2 * values.length);
    WORDS.set(values, words);
  }
  return wordsToMs((words[2 * row] as number) >>> 0, words[2 * row + 1] as number);
}

const WORDS = new WeakMap<BigInt64Array, Int32Array>();

const wordsToMs = (low: number, high: number): number =>
  high * WORD_MS + Math.floor((high * WORD_NS + low) / 1e6);
