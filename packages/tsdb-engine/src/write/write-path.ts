import type { EventLoopYielder } from '@plinth/kernel';
import { DiskFull } from '@plinth/kernel';
import type { Admission, Catalog } from '@plinth/tsdb-catalog/catalog.js';
import type { WriteOutcome, WriteRequest } from '@plinth/tsdb-model/engine.js';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import type { ParsedBody, ParsedTable, RefusedLine } from '@plinth/tsdb-model/parsed-body.js';
import type { TableSchema } from '@plinth/tsdb-model/schema.js';
import { ParserSeries } from '../series/parser-series.js';
import type { TableStore } from '../table/table-store.js';
import { acceptedHistograms, acceptedRows, refusedLines } from './admitted-rows.js';
import type { CommitListener } from './commit-listener.js';
import { portionsOf } from './portions.js';
import type { BatchForTable, WriteBuffer } from './write-buffer.js';

/**
 * A body parsed by one of the parsers. Results of one parser must reach the write path in parsing
 * order.
 */
export interface ReadBody {
  /** The parser that numbered the series. */
  readonly parserId: number;
  readonly parsed: ParsedBody;
  /** The body after parsing: its memory was transferred to the parser thread and back. */
  readonly body: Uint8Array;
  /**
   * Must be called at most once, after the last use of the numbers in `parsed`. A later body reuses their memory.
   */
  readonly release: () => void;
}

export interface BodyReader {
  /** Returns a promise if another thread parses the body. Throws `body_not_utf8`. */
  read(request: WriteRequest): ReadBody | Promise<ReadBody>;
}

/**
 * Bodies of at least this size wait for the event-loop yielder before their rows are logged and
 * buffered, which takes milliseconds.
 */
const LARGE_BODY_BYTES = 65536;
/** Number of new series added to index and log in one step. Each takes a few microseconds. */
const MAX_NEW_SERIES = 512;

/** Number of tables created or written in one step. Each takes tens of microseconds. */
const MAX_TABLES_AT_ONCE = 256;

/** Accepted rows of one table; `series` still contains the parser's numbers. */
interface AcceptedTable extends BatchForTable {
  readonly parsed: ParsedTable;
}

/** From a body to durable rows: parse, check against the schema, log, buffer. */
export class WritePath {
  readonly #reader: BodyReader;
  readonly #catalog: Catalog;
  readonly #buffer: WriteBuffer;
  readonly #storeOf: (schema: TableSchema) => TableStore;
  readonly #commits: CommitListener | undefined;
  readonly #yielder: EventLoopYielder;
  readonly #parsers = new Map<number, ParserSeries>();

  constructor(options: {
    readonly reader: BodyReader;
    readonly catalog: Catalog;
    readonly buffer: WriteBuffer;
    /** The table's store, with its schema brought up to date. */
    readonly storeOf: (schema: TableSchema) => TableStore;
    readonly commits: CommitListener | undefined;
    readonly yielder: EventLoopYielder;
  }) {
    this.#reader = options.reader;
    this.#catalog = options.catalog;
    this.#buffer = options.buffer;
    this.#storeOf = options.storeOf;
    this.#commits = options.commits;
    this.#yielder = options.yielder;
  }

  async write(request: WriteRequest): Promise<WriteOutcome> {
    if (!request.access.mayWrite(request.database)) throw tsdbError('not_permitted');
    const held = { bytes: request.body.byteLength };
    const entering = this.#buffer.enter(held.bytes);
    if (entering !== undefined) await entering;
    try {
      return await this.#take(request, held);
    } finally {
      this.#buffer.leave(held.bytes);
    }
  }

  async #take(request: WriteRequest, held: { bytes: number }): Promise<WriteOutcome> {
    const reading = this.#reader.read(request);
    const read = reading instanceof Promise ? await reading : reading;
    const { parsed } = read;
    const moreBytes = Math.max(0, columnBytes(parsed) - held.bytes);
    this.#buffer.grow(moreBytes);
    held.bytes += moreBytes;
    const parser = this.#parserOf(read.parserId, parsed.epoch);
    parser.note(parsed.tables);
    const admitting = this.#admit(request, parsed, parser);
    let admission = admitting instanceof Promise ? await admitting : admitting;
    const convertedBytes = convertedSizeBytes(parsed, admission);
    this.#buffer.grow(convertedBytes);
    held.bytes += convertedBytes;
    if (parsed.invalid !== undefined)
      throw tsdbError('message_invalid', {
        message: MESSAGES[parsed.format ?? 'remote_write'],
        why: parsed.invalid,
      });
    if (parsed.tooSparse !== undefined) throw tsdbError('body_too_sparse', parsed.tooSparse);
    const entering = this.#buffer.enter(0);
    if (entering !== undefined) await entering;
    if (read.body.byteLength >= LARGE_BODY_BYTES) await this.#yielder.next();
    if (admission.tables.length > MAX_TABLES_AT_ONCE) await this.#openYielding(admission);
    let refused: readonly RefusedLine[];
    let accepted: readonly AcceptedTable[];
    let introducing: Promise<void> | undefined;
    do {
      await introducing;
      // A table that was deleted during the wait accepts no more rows, because its name may belong to another table.
      while (this.#hasLostTable(admission)) admission = await this.#admit(request, parsed, parser);
      // Prometheus sends requests that contain only metadata, OpenTelemetry empty ones.
      if (parsed.lineCount === 0 && parsed.format === undefined) throw tsdbError('write_empty');
      refused = refusedLines(read.body, parsed, admission);
      if (refused.length > 0 && !request.acceptPartial) {
        return { writtenCount: 0, lineCount: parsed.lineCount, refused };
      }
      accepted = this.#accepted(admission);
      introducing = whenIndexed(accepted) ?? this.#introduce(accepted, parser);
    } while (introducing !== undefined);
    const durable: Promise<void>[] = [];
    const portions = portionsOf(accepted);
    const batches = this.#appendAtOnce(portions.next().value ?? [], parser, durable);
    for (const portion of portions)
      batches.push(...(await this.#appendLater(portion, parser, durable)));
    if (batches.length > 0) {
      const isKept = batches.some(({ store }) => store.isObserved);
      const stored = durable.length === 1 ? (durable[0] as Promise<void>) : all(durable);
      const report = this.#reporter(request, admission, batches);
      // The log has written the numbers, and the buffer has copied them. A listener may keep them.
      const end = report ?? (isKept ? undefined : read.release);
      if (request.noSync) stored.then(end, ignoreUnsynced);
      else {
        await stored.catch(reportUnstored);
        end?.();
      }
    }
    const writtenCount = batches.reduce((sum, { batch }) => sum + batch.rowCount, 0);
    const histogramCount = acceptedHistograms(parsed, admission);
    return {
      ...{ writtenCount, lineCount: parsed.lineCount, refused },
      ...(histogramCount !== undefined && { histogramCount }),
      ...(parsed.exemplarCount !== undefined && { exemplarCount: parsed.exemplarCount }),
    };
  }

  #admit(
    request: WriteRequest,
    parsed: ParsedBody,
    parser: ParserSeries,
  ): Admission | Promise<Admission> {
    return this.#catalog.admit({
      database: request.database,
      isInternal: request.isInternal === true,
      isLimited: !request.access.isAdministrator,
      tables: parsed.tables,
      // The catalog also needs the parser's tag sets of a body that is rejected completely.
      allOrNothing: !request.acceptPartial || isRefused(parsed),
      alreadyRefused: parsed.refused,
      seriesOf: (table: ParsedTable, series: number) => parser.tagsOf(table, series),
    });
  }

  /**
   * Opens the tables of a body without their rows; in steps, because many tables would block the
   * event loop.
   */
  async #openYielding({ tables }: Admission): Promise<void> {
    for (let from = 0; from < tables.length; from += MAX_TABLES_AT_ONCE) {
      await this.#yielder.next();
      for (const { schema } of tables.slice(from, from + MAX_TABLES_AT_ONCE)) {
        const isThere = schema !== undefined && this.#catalog.tableById(schema.id) !== undefined;
        if (isThere) this.#storeOf(schema);
      }
    }
  }

  /**
   * Logs and buffers rows of some tables. @param durable receives the promises that resolve when
   * they are durable.
   */
  #appendAtOnce(
    tables: readonly AcceptedTable[],
    parser: ParserSeries,
    durable: Promise<void>[],
  ): BatchForTable[] {
    if (tables.length === 0) return [];
    const batches = tables.map((table) => translated(table, parser));
    durable.push(this.#buffer.append(batches));
    return batches;
  }

  /**
   * Like `appendAtOnce` for a further portion, after a yield. If a table has been deleted in the meantime, only its
   * earlier portions were written.
   */
  async #appendLater(
    portion: readonly AcceptedTable[],
    parser: ParserSeries,
    durable: Promise<void>[],
  ): Promise<readonly BatchForTable[]> {
    // If a later portion fails, nothing awaits these promises.
    durable.at(-1)?.catch(ignoreUnsynced);
    await this.#yielder.next();
    await whenIndexed(portion);
    const isThere = ({ store }: AcceptedTable): boolean =>
      this.#catalog.tableById(store.tableId) !== undefined;
    return this.#appendAtOnce(portion.filter(isThere), parser, durable);
  }

  #hasLostTable(admission: Admission): boolean {
    return admission.tables.some(
      ({ schema }) => schema !== undefined && this.#catalog.tableById(schema.id) === undefined,
    );
  }

  /**
   * Returns a function that notifies the listener of durable rows; `undefined` without a listener.
   */
  #reporter(
    request: WriteRequest,
    { database }: Admission,
    batches: readonly BatchForTable[],
  ): (() => void) | undefined {
    const commits = this.#commits;
    if (commits === undefined || database === undefined || !commits.wants(database.id)) return;
    const rows = batches.map(({ store, batch }) => ({
      table: store.schema.name,
      batch,
      index: store.series.index,
    }));
    return () => commits.committed(database.id, rows, request.pluginDepth ?? 0);
  }

  #accepted(admission: Admission): readonly AcceptedTable[] {
    const accepted: AcceptedTable[] = [];
    for (const table of admission.tables) {
      if (table.schema === undefined || table.refusals.length === table.parsed.rowCount) continue;
      const store = this.#storeOf(table.schema);
      accepted.push({ store, batch: acceptedRows(table, table.schema), parsed: table.parsed });
    }
    return accepted;
  }

  /**
   * Adds many new series to index and log before their rows, in steps. With thousands of them, the
   * step that logs and buffers the rows would block the event loop. Returns `undefined` if there
   * are few.
   */
  #introduce(accepted: readonly AcceptedTable[], parser: ParserSeries): Promise<void> | undefined {
    const many = accepted.filter((table) => this.#hasManyNewSeries(table, parser));
    return many.length === 0 ? undefined : this.#introduceYielding(many, parser);
  }

  #hasManyNewSeries({ store, batch, parsed }: AcceptedTable, parser: ParserSeries): boolean {
    if (batch.rowCount <= MAX_NEW_SERIES) return false;
    const { series } = batch;
    const { tableId } = store;
    const { index } = store.series;
    if (parser.countUnresolved(parsed, tableId, series) > MAX_NEW_SERIES) return true;
    const numbers = parser.numbersOf({ table: parsed, tableId, series, index });
    return this.#buffer.countUndefined(store, numbers) > MAX_NEW_SERIES;
  }

  async #introduceYielding(
    accepted: readonly AcceptedTable[],
    parser: ParserSeries,
  ): Promise<void> {
    for (const { store, batch, parsed } of accepted) {
      const { tableId } = store;
      const { index } = store.series;
      for (let from = 0; from < batch.rowCount; from += MAX_NEW_SERIES) {
        await this.#yielder.next();
        const series = batch.series.subarray(from, from + MAX_NEW_SERIES);
        this.#buffer.define(store, parser.numbersOf({ table: parsed, tableId, series, index }));
      }
    }
  }

  #parserOf(parserId: number, epoch: number): ParserSeries {
    let parser = this.#parsers.get(parserId);
    if (parser === undefined || parser.epoch !== epoch) {
      parser = new ParserSeries(epoch);
      this.#parsers.set(parserId, parser);
    }
    return parser;
  }
}

/** Names of messages, for errors. */
const MESSAGES: Readonly<Record<NonNullable<ParsedBody['format']>, string>> = {
  remote_write: 'remote write',
  otlp_metrics: 'OpenTelemetry metrics',
};

/** Whether the complete body is refused. */
const isRefused = ({ tooSparse, invalid }: ParsedBody): boolean =>
  tooSparse !== undefined || invalid !== undefined;

const columnBytes = ({ tables }: Pick<ParsedBody, 'tables'>): number =>
  tables.reduce((sum, { rowCount, fields }) => sum + 8 * rowCount * fields.length, 0);

/** Upper bound of the size of the float columns that the catalog created from integers. */
const convertedSizeBytes = (parsed: ParsedBody, { tables }: Admission): number =>
  columnBytes({
    tables: tables
      .filter((table, index) => table.parsed !== parsed.tables[index])
      .map((table) => table.parsed),
  });

/** Returns `undefined` if the series of these tables are in their indexes. */
function whenIndexed(accepted: readonly AcceptedTable[]): Promise<void> | undefined {
  const waits = accepted.flatMap(({ store }) => store.series.whenIndexed() ?? []);
  return waits.length === 0 ? undefined : Promise.all(waits).then(() => undefined);
}

const all = (durable: readonly Promise<void>[]): Promise<void> =>
  Promise.all(durable).then(() => undefined);

/** Translates `series` to the numbers of the table's index: in place, so only once. */
function translated({ store, batch, parsed }: AcceptedTable, parser: ParserSeries): BatchForTable {
  const { series } = batch;
  parser.translate({ table: parsed, tableId: store.tableId, series, index: store.series.index });
  return { store, batch };
}

/**
 * The client does not wait for durability. If the node is read-only or its disk is full, every later write fails.
 */
function ignoreUnsynced(): void {}

function reportUnstored(cause: unknown): never {
  throw cause instanceof DiskFull ? cause : tsdbError('node_read_only', undefined, cause);
}
