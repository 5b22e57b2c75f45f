import { type Clock, type Logger, messageOf } from '@plinth/kernel';
import type { RelationalCatalog } from '@plinth/tsdb-catalog/relational-catalog.js';
import { visibleFrom } from '@plinth/tsdb-engine/table/visible-from.js';
import type { TsdbEngine } from '@plinth/tsdb-engine/tsdb-engine.js';
import type { Column, ColumnKind } from '@plinth/tsdb-model/columns/column.js';
import { INTERNAL_DATABASE } from '@plinth/tsdb-model/database/names.js';
import { tableNotKnown, tsdbError } from '@plinth/tsdb-model/errors.js';
import { MIN_TIME_NS } from '@plinth/tsdb-model/scan.js';
import type { DatabaseSchema, TableSchema } from '@plinth/tsdb-model/schema.js';
import { isoNsOf, NS_PER_SECOND } from '@plinth/tsdb-model/time/calendar.js';
import {
  conversionOf,
  countAllText,
  countText,
  pointsText,
  type TargetKind,
  targetsOf,
} from './conversion-sql.js';
import { COPY_ACCESS, TableCopy } from './table-copy.js';

/** Number of finished conversions that are listed. */
const MAX_LISTED = 100;
const EXPIRY_MARGIN_NS = 60n * NS_PER_SECOND;

export interface ConversionRequest {
  readonly database: string;
  readonly table: string;
  readonly column: string;
  readonly to: TargetKind;
}

/** What a conversion would change. */
export interface ConversionCounts {
  readonly row_count: number;
  readonly value_count: number;
  /** Values that cannot be converted; a conversion starts only if there are none. */
  readonly impossible_values: number;
  /** Integers that change because a float cannot represent them. */
  readonly inexact_values: number;
  /** Rows that would have no field; a conversion starts only if there are none. */
  readonly rows_without_field: number;
  /** Points that would be merged with other points. */
  readonly merged_points: number;
}

export interface Conversion {
  readonly id: number;
  readonly db: string;
  readonly table: string;
  readonly column: string;
  readonly from: ColumnKind;
  readonly to: TargetKind;
  readonly state: 'running' | 'completed' | 'failed' | 'cancelled';
  /** Rows of the table at the start. */
  readonly row_count: number;
  /** Also counts rows that were copied again. */
  readonly copied_count: number;
  readonly started_at: string;
  readonly error: string | null;
}

interface Found {
  readonly database: DatabaseSchema;
  readonly table: TableSchema;
  readonly column: Column;
}

interface Deps {
  readonly catalog: RelationalCatalog;
  readonly engine: TsdbEngine;
  readonly clock: Clock;
  readonly log: Logger;
}

interface Running {
  /** `undefined` until the conversion was checked. */
  readonly id: number | undefined;
  readonly tableId: number;
  readonly stop: AbortController;
  readonly ended: Promise<void>;
  copy: TableCopy | undefined;
}

type Started = Running & { readonly id: number };

/**
 * Converts columns in the background: copies the table to a staged table with the new type, which
 * then replaces it. One conversion runs at a time. Source: tsdb-http, "Conversions".
 */
export class Conversions {
  readonly #deps: Deps;
  readonly #listed = new Map<number, Conversion>();
  #running: Running | undefined;
  #nextId = 1;

  constructor(deps: Deps) {
    this.#deps = deps;
    deps.catalog.renames.refuseWhile((tableId) => this.#running?.tableId === tableId);
  }

  /** Removes the copies of conversions that a crash interrupted. */
  async open(): Promise<void> {
    const { catalog, engine, log } = this.#deps;
    for (const staged of catalog.replacements.staged()) {
      log.warn({ table: staged.name }, 'interrupted conversion removed');
      await catalog.replacements.discard(staged);
    }
    engine.removeDeletedSoon();
  }

  /** Newest first. */
  list(): readonly Conversion[] {
    return [...this.#listed.values()].reverse();
  }

  /** Call if rows of these tables were deleted. */
  rowsDeleted(tableIds: readonly number[]): void {
    if (this.#running !== undefined && tableIds.includes(this.#running.tableId))
      this.#running.copy?.rowsDeleted();
  }

  /**
   * Throws `internal_database`, `database_not_known`, `table_not_known`, `column_not_known`,
   * `conversion_invalid`, and the errors of queries.
   */
  async check(request: ConversionRequest, signal: AbortSignal): Promise<ConversionCounts & Found> {
    const found = this.#find(request);
    const { table, column } = found;
    const conversion = possibleConversion(column, request.to);
    for (const { name } of table.columns.values()) {
      if (!hasBreak(name)) continue;
      const text = `the name ${JSON.stringify(name)} contains a tab or newline, which cannot be copied; rename the column first`;
      throw tsdbError('conversion_invalid', text);
    }
    const brokenTags = this.#brokenTags(table, column);
    const text = countText(table, column, conversion, { to: request.to, brokenTags });
    const [rows = 0, values = 0, impossible = 0, inexact = 0, fieldless = 0, uncopied = 0] =
      await this.#numbers(request.database, text, signal);
    if (uncopied > 0) {
      const text = `${uncopied} rows contain NaN, or a tag with a tab or newline, which cannot be copied; delete these rows first`;
      throw tsdbError('conversion_invalid', text);
    }
    const [points = 0] =
      column.kind === 'tag'
        ? await this.#numbers(request.database, pointsText(table, column), signal)
        : [rows];
    return {
      ...found,
      ...{ row_count: rows, value_count: values, impossible_values: impossible },
      ...{ inexact_values: inexact, rows_without_field: fieldless, merged_points: rows - points },
    };
  }

  /** Starts a conversion. Throws the errors of `check`, and `conversion_busy`. */
  async start(request: ConversionRequest, signal: AbortSignal): Promise<Conversion> {
    const { table, column } = this.#find(request);
    possibleConversion(column, request.to);
    if (this.#running !== undefined) throw tsdbError('conversion_busy');
    const stop = new AbortController();
    const { promise, resolve } = deferred();
    // From here on, renames of the table are refused.
    const running: Running = {
      ...{ id: undefined, tableId: table.id, stop, ended: promise, copy: undefined },
    };
    this.#running = running;
    try {
      const counts = await this.#startable(request, AbortSignal.any([signal, stop.signal]));
      const listed = this.#list(request, counts);
      const started = { ...running, id: listed.id };
      this.#running = started;
      void this.#run(started, request, counts).finally(resolve);
      return listed;
    } catch (error) {
      this.#running = undefined;
      resolve();
      throw error;
    }
  }

  /** Checks a conversion, and throws `conversion_invalid` if it must not start. */
  async #startable(
    request: ConversionRequest,
    signal: AbortSignal,
  ): Promise<ConversionCounts & Found> {
    const counts = await this.check(request, signal);
    const { impossible_values, rows_without_field, column } = counts;
    if (impossible_values > 0) {
      const text = `${impossible_values} values of '${column.name}' cannot become ${request.to}; delete or correct their rows first`;
      throw tsdbError('conversion_invalid', text);
    }
    if (rows_without_field > 0) {
      const text = `${rows_without_field} rows have no field except '${column.name}', and points must have a field; delete these rows first`;
      throw tsdbError('conversion_invalid', text);
    }
    return counts;
  }

  #list(request: ConversionRequest, { table, column, row_count }: ConversionCounts & Found) {
    const id = this.#nextId++;
    const { database: db, to } = request;
    const started_at = new Date(this.#deps.clock.nowMs()).toISOString();
    const listed: Conversion = {
      ...{ id, db, table: table.name, column: column.name, from: column.kind, to },
      ...{ state: 'running', row_count, copied_count: 0, started_at, error: null },
    };
    this.#show(listed);
    return listed;
  }

  /** @returns false if no running conversion has this id. */
  cancel(id: number): boolean {
    if (this.#running?.id !== id) return false;
    this.#running.stop.abort();
    return true;
  }

  async close(): Promise<void> {
    this.#running?.stop.abort();
    await this.#running?.ended;
  }

  async #run(running: Started, request: ConversionRequest, found: Found): Promise<void> {
    const { catalog, engine, log } = this.#deps;
    const { id, stop } = running;
    let staged: TableSchema | undefined;
    try {
      staged = await catalog.replacements.stage(found.table, (present) =>
        definitionOf(present, found.column, request),
      );
      await this.#copy(running, request, staged);
      this.#end(id, { state: 'completed' });
      log.info({ ...request, id }, 'column converted');
    } catch (error) {
      if (staged !== undefined) await this.#discard(staged);
      const state = stop.signal.aborted ? 'cancelled' : 'failed';
      this.#end(id, { state, error: state === 'failed' ? messageOf(error) : null });
      if (state === 'failed') log.warn({ err: error, ...request, id }, 'column conversion failed');
    }
    engine.removeDeletedSoon();
  }

  /** Ends a conversion. A new one can start as soon as the end is visible. */
  #end(id: number, change: Partial<Conversion>): void {
    this.#running = undefined;
    this.#update(id, change);
  }

  /** Removes the copy. If this fails, the next conversion of the table or the next start removes it. */
  async #discard(staged: TableSchema): Promise<void> {
    const { catalog, log } = this.#deps;
    await catalog.replacements.discard(staged).catch((error) => {
      log.warn({ err: error, table: staged.name }, 'copy of a conversion not removed');
    });
  }

  async #copy(running: Started, request: ConversionRequest, staged: TableSchema): Promise<void> {
    const { catalog, engine, clock } = this.#deps;
    const { id, tableId, stop } = running;
    using copy = new TableCopy({
      ...{ engine, clock, staged, to: request.to, signal: stop.signal },
      ...{ database: request.database, columnName: request.column },
      tableOf: () => catalog.tableById(tableId),
      onCopied: (rowCount) => {
        const copied = this.#listed.get(id)?.copied_count ?? 0;
        this.#update(id, { copied_count: copied + rowCount });
      },
    });
    running.copy = copy;
    for (let isDone = false; !isDone; ) {
      await copy.run();
      isDone = await engine.withoutWrites(request.database, () =>
        this.#replaceIfShort(copy, { request, staged, running }),
      );
    }
  }

  /** Replaces the table while writes to its database are paused, unless too many rows are missing. */
  async #replaceIfShort(
    copy: TableCopy,
    {
      request,
      staged,
      running,
    }: {
      readonly request: ConversionRequest;
      readonly staged: TableSchema;
      readonly running: Started;
    },
  ): Promise<boolean> {
    if (!copy.isShort) return false;
    const { catalog, engine } = this.#deps;
    const { tableId, stop } = running;
    await copy.finish();
    const table = catalog.tableById(tableId);
    if (table === undefined)
      throw tsdbError('conversion_failed', 'the table was deleted during the conversion');
    await this.#assertComplete(request, table, staged, stop.signal);
    // Live queries that continue must not receive the copied rows as new rows.
    await engine.retainedLog.rowsDeleted([staged.id]);
    await catalog.replacements.replace(table, staged);
    return true;
  }

  /** Checks, as the last protection before the copy replaces the table, that both have the same number of points. */
  async #assertComplete(
    { database, column: columnName }: ConversionRequest,
    table: TableSchema,
    staged: TableSchema,
    signal: AbortSignal,
  ): Promise<void> {
    const column = table.columns.get(columnName);
    const text = column?.kind === 'tag' ? pointsText(table, column) : countAllText(table);
    const fromNs = this.#keptFromNs(table);
    const [request = 0] = await this.#numbers(database, text, signal, fromNs);
    const copiedText = countAllText(staged);
    const [copied = 0] = await this.#numbers(INTERNAL_DATABASE, copiedText, signal, fromNs);
    if (request === copied) return;
    const fault = `the copy has ${copied} points instead of ${request}; report this as a bug`;
    throw tsdbError('conversion_failed', fault);
  }

  /** Returns a start time whose rows do not expire during the comparison. */
  #keptFromNs(table: TableSchema): bigint {
    const { catalog, clock } = this.#deps;
    const database = catalog.databaseById(table.databaseId) ?? { retentionNs: undefined };
    const fromNs = visibleFrom(database, table, clock.nowNs());
    return fromNs === MIN_TIME_NS ? fromNs : fromNs + EXPIRY_MARGIN_NS;
  }

  /** Returns the tags, other than the column, that have had a value that cannot be copied. */
  #brokenTags(table: TableSchema, column: Column): readonly string[] {
    const { index } = this.#deps.engine.tableStore(table).series;
    const others = table.seriesKey.filter((tag) => tag !== column.name);
    return others.filter((tag) => index.tagValues(tag).some(hasBreak));
  }

  #find({ database: name, table: tableName, column: columnName }: ConversionRequest): Found {
    if (name === INTERNAL_DATABASE) throw tsdbError('internal_database', 'modify');
    const { catalog } = this.#deps;
    const database = catalog.database(name);
    if (database === undefined) throw tsdbError('database_not_known', { database: name });
    const table = database.tables.get(tableName);
    if (table === undefined) throw tableNotKnown(database, tableName);
    const column = table.columns.get(columnName);
    if (column !== undefined) return { database, table, column };
    const renamedTo = table.formerColumns?.get(columnName);
    throw tsdbError('column_not_known', { table: tableName, column: columnName, renamedTo });
  }

  /** Returns the numbers in the only row of a result. */
  async #numbers(
    database: string,
    text: string,
    signal: AbortSignal,
    fromNs = MIN_TIME_NS,
  ): Promise<number[]> {
    const result = await this.#deps.engine.query({
      ...{ database, access: COPY_ACCESS, language: 'sql', text, signal, isInternal: true },
      params: new Map(text.includes('$from') ? [['from', isoNsOf(fromNs)]] : []),
    });
    for await (const { columns, rowCount } of result.chunks)
      if (rowCount > 0) return columns.map(({ values }) => Number(values[0] ?? 0));
    return [];
  }

  #show(conversion: Conversion): void {
    this.#listed.set(conversion.id, conversion);
    for (const id of this.#listed.keys()) {
      if (this.#listed.size <= MAX_LISTED) return;
      this.#listed.delete(id);
    }
  }

  #update(id: number, change: Partial<Conversion>): void {
    const known = this.#listed.get(id);
    if (known !== undefined) this.#listed.set(id, { ...known, ...change });
  }
}

const hasBreak = (text: string): boolean => /[\t\n]/.test(text);

/** Throws `conversion_invalid`. */
function possibleConversion(column: Column, to: TargetKind) {
  const conversion = conversionOf(column.kind, to);
  if (conversion !== undefined) return conversion;
  const targets = targetsOf(column.kind).join(', ');
  const text = `column '${column.name}' of type ${column.kind} cannot become ${to}; use ${targets || 'a tag or field'}`;
  throw tsdbError('conversion_invalid', text);
}

/**
 * Defines the columns of the copy: tags in the order of the series key, a new tag last. Throws `conversion_failed` if
 * the column was renamed since it was checked.
 */
function definitionOf(
  table: TableSchema,
  column: Column,
  { database, table: name, to }: ConversionRequest,
) {
  const isSame = table.name === name && table.columns.get(column.name)?.id === column.id;
  if (!isSame) {
    const text = `table '${name}' of ${database} or its column '${column.name}' was renamed; start the conversion again`;
    throw tsdbError('conversion_failed', text);
  }
  const others = table.seriesKey.filter((tag) => tag !== column.name);
  const fields = [...table.columns.values()].flatMap(({ name, kind }) => {
    const target = name === column.name ? to : kind;
    return target === 'tag' || target === 'time' ? [] : [{ name, type: target }];
  });
  return { tags: to === 'tag' ? [...others, column.name] : others, fields };
}

function deferred(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
