import type { EventLoopYielder } from '@plinth/kernel';
import { DiskFull } from '@plinth/kernel';
import type { Catalog, ValidationResult } from '@plinth/tsdb-catalog/catalog.js';
import type { ParseResult } from '@plinth/tsdb-ingest/workers/parser-pool.js';
import type { ParsedBatch } from '@plinth/tsdb-model/columns/row-batch.js';
import type { WriteOutcome, WriteRequest } from '@plinth/tsdb-model/engine.js';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import type { ParsedBody, ParsedTable } from '@plinth/tsdb-model/parsed-body.js';
import type { RefusedLine } from '@plinth/tsdb-model/refused-line.js';
import type { TableSchema } from '@plinth/tsdb-model/schema.js';
import { SeriesNumberMapper } from '../series/series-number-mapper.js';
import type { TableStore } from '../table/table-store.js';
import { acceptedHistograms, acceptedRows, refusedLines } from './accepted-rows.js';
import type { CommitListener } from './commit-listener.js';
import { DatabaseWriteLock } from './database-write-lock.js';
import { MAX_TABLES_AT_ONCE, splitIntoPortions } from './portions.js';
import { ignoreUnsynced, type TableBatch, type WriteSequencer } from './write-sequencer.js';

export interface BodyReader {
  /**
   * Returns a promise if another thread parses the body. Results of one parser must reach the write path in parsing order.
   * Throws and rejects like `ParserPool.parse`.
   */
  read(request: WriteRequest): ParseResult | Promise<ParseResult>;
}

/**
 * Bodies of at least this size wait for the event-loop yielder before their rows are logged and
 * buffered, which takes milliseconds.
 */
const LARGE_BODY_BYTES = 65536;
/** Number of new series added to index and log in one step. Each takes a few microseconds. */
const MAX_NEW_SERIES = 512;

/** Accepted rows of one table. */
interface AcceptedTable {
  readonly store: TableStore;
  readonly batch: ParsedBatch;
  readonly parsed: ParsedTable;
}

/** A write request whose body has been parsed. */
interface Write {
  readonly request: WriteRequest;
  readonly read: ParseResult;
  readonly mapper: SeriesNumberMapper;
}

interface RowsToWrite {
  readonly validation: ValidationResult;
  readonly refused: readonly RefusedLine[];
  /** `undefined` if refused lines refuse the complete body. */
  readonly accepted?: readonly AcceptedTable[];
}

/** From a body to durable rows: parse, check against the schema, log, buffer. */
export class WritePath {
  readonly #reader: BodyReader;
  readonly #catalog: Catalog;
  readonly #sequencer: WriteSequencer;
  readonly #storeOf: (schema: TableSchema) => TableStore;
  readonly #commitListener: CommitListener | undefined;
  readonly #yielder: EventLoopYielder;
  readonly #mappers = new Map<number, SeriesNumberMapper>();
  /** Shared by writes; exclusive for changes to a database during which no write may run. */
  readonly writeLock = new DatabaseWriteLock();

  constructor(options: {
    readonly reader: BodyReader;
    readonly catalog: Catalog;
    readonly sequencer: WriteSequencer;
    /** The table's store, with its schema brought up to date. */
    readonly storeOf: (schema: TableSchema) => TableStore;
    readonly commitListener: CommitListener | undefined;
    readonly yielder: EventLoopYielder;
  }) {
    this.#reader = options.reader;
    this.#catalog = options.catalog;
    this.#sequencer = options.sequencer;
    this.#storeOf = options.storeOf;
    this.#commitListener = options.commitListener;
    this.#yielder = options.yielder;
  }

  async write(request: WriteRequest): Promise<WriteOutcome> {
    const { database } = request;
    if (!request.access.mayWrite(database)) throw tsdbError('not_permitted');
    return await this.writeLock.shared(database, () => this.#writeLocked(request));
  }

  async #writeLocked(request: WriteRequest): Promise<WriteOutcome> {
    const reservation = { bytes: request.body.byteLength };
    const reserving = this.#sequencer.reserve(reservation.bytes);
    if (reserving !== undefined) await reserving;
    try {
      return await this.#writeReserved(request, reservation);
    } finally {
      this.#sequencer.release(reservation.bytes);
    }
  }

  async #writeReserved(
    request: WriteRequest,
    reservation: { bytes: number },
  ): Promise<WriteOutcome> {
    const reading = this.#reader.read(request);
    const read = reading instanceof Promise ? await reading : reading;
    const { parsed } = read;
    this.#grow(reservation, Math.max(0, columnBytes(parsed) - reservation.bytes));
    // Numbers of an earlier epoch, before the parser was reset, refer to other series.
    const mapper = this.#mapperOf(read.parserId, parsed.epoch);
    mapper.addTagSets(parsed.tables);
    const write: Write = { request, read, mapper };
    const validating = this.#validate(write);
    const validation = validating instanceof Promise ? await validating : validating;
    this.#grow(reservation, convertedSizeBytes(parsed, validation));
    throwIfRefused(parsed);
    const waiting = this.#sequencer.waitForRoom();
    if (waiting !== undefined) await waiting;
    if (read.body.byteLength >= LARGE_BODY_BYTES) await this.#yielder.next();
    if (validation.tables.length > MAX_TABLES_AT_ONCE) await this.#openTablesYielding(validation);
    let rows = this.#rowsToWrite(write, validation);
    // A table can be deleted during each wait, so the rows are selected again. After the loop, the rows are logged without a wait.
    while (rows instanceof Promise) rows = this.#rowsToWrite(write, await rows);
    const { accepted, refused } = rows;
    if (accepted === undefined) return { writtenCount: 0, lineCount: parsed.lineCount, refused };
    const writtenCount = await this.#store(write, rows.validation, accepted);
    const histogramCount = acceptedHistograms(parsed, rows.validation);
    return {
      ...{ writtenCount, lineCount: parsed.lineCount, refused },
      ...(histogramCount !== undefined && { histogramCount }),
      ...(parsed.exemplarCount !== undefined && { exemplarCount: parsed.exemplarCount }),
    };
  }

  #grow(reservation: { bytes: number }, bytes: number): void {
    this.#sequencer.growReservation(bytes);
    reservation.bytes += bytes;
  }

  /**
   * Returns the rows that can be logged now, or a promise of the validation for another call. The caller's loop ends,
   * because another call is needed only if a table was deleted, or until the new series are in the index and the log.
   */
  #rowsToWrite(
    write: Write,
    validation: ValidationResult,
  ): RowsToWrite | Promise<ValidationResult> {
    const { request, read, mapper } = write;
    const { parsed } = read;
    // The name of a deleted table may belong to another table, so its rows are validated again.
    if (this.#hasLostTable(validation)) return Promise.resolve(this.#validate(write));
    // Prometheus sends requests that contain only metadata, OpenTelemetry empty ones.
    if (parsed.lineCount === 0 && parsed.format === undefined) throw tsdbError('write_empty');
    const refused = refusedLines(read.body, parsed, validation);
    if (refused.length > 0 && !request.acceptPartial) return { validation, refused };
    const accepted = this.#accepted(validation);
    const waiting = whenIndexed(accepted) ?? this.#defineSeries(accepted, mapper);
    return waiting === undefined
      ? { validation, refused, accepted }
      : waiting.then(() => validation);
  }

  /**
   * Logs and buffers the rows. Resolves when they are durable, or, if the client does not wait for that, when they are
   * buffered. @returns their number.
   */
  async #store(
    { request, read, mapper }: Write,
    validation: ValidationResult,
    accepted: readonly AcceptedTable[],
  ): Promise<number> {
    const durable: Promise<void>[] = [];
    const portions = splitIntoPortions(accepted);
    const batches = this.#appendPortion(portions.next().value ?? [], mapper, durable);
    for (const portion of portions)
      batches.push(...(await this.#appendAfterYield(portion, mapper, durable)));
    if (batches.length > 0) {
      const isKept = batches.some(({ store }) => store.isObserved);
      const stored = durable.length === 1 ? (durable[0] as Promise<void>) : allDurable(durable);
      const notify = this.#commitNotifier(request, validation, batches);
      // The log has written the numbers, and the buffer has copied them. A listener may keep them.
      const afterDurable = notify ?? (isKept ? undefined : read.release);
      if (request.noSync) stored.then(afterDurable, ignoreUnsynced);
      else {
        await stored.catch(throwNotDurable);
        afterDurable?.();
      }
    }
    return batches.reduce((sum, { batch }) => sum + batch.rowCount, 0);
  }

  #validate({ request, read, mapper }: Write): ValidationResult | Promise<ValidationResult> {
    const { parsed } = read;
    return this.#catalog.validate({
      database: request.database,
      isInternal: request.isInternal === true,
      isLimited: !request.access.isAdministrator,
      tables: parsed.tables,
      // The catalog also needs the parser's tag sets of a body that is rejected completely.
      allOrNothing: !request.acceptPartial || isRefused(parsed),
      alreadyRefused: parsed.refused,
      seriesOf: (table: ParsedTable, series: number) => mapper.tagsOf(table, series),
    });
  }

  /**
   * Opens the tables of a body without their rows; in steps, because many tables would block the
   * event loop.
   */
  async #openTablesYielding({ tables }: ValidationResult): Promise<void> {
    for (let from = 0; from < tables.length; from += MAX_TABLES_AT_ONCE) {
      await this.#yielder.next();
      for (const { schema } of tables.slice(from, from + MAX_TABLES_AT_ONCE)) {
        const exists = schema !== undefined && this.#catalog.tableById(schema.id) !== undefined;
        if (exists) this.#storeOf(schema);
      }
    }
  }

  /**
   * Logs and buffers rows of some tables. @param durable receives the promises that resolve when
   * they are durable.
   */
  #appendPortion(
    tables: readonly AcceptedTable[],
    mapper: SeriesNumberMapper,
    durable: Promise<void>[],
  ): TableBatch[] {
    if (tables.length === 0) return [];
    const batches = tables.map((table) => translateSeries(table, mapper));
    durable.push(this.#sequencer.append(batches));
    return batches;
  }

  /**
   * Like `#appendPortion` for a further portion, after a yield. If a table has been deleted in the
   * meantime, only its earlier portions are written.
   */
  async #appendAfterYield(
    portion: readonly AcceptedTable[],
    mapper: SeriesNumberMapper,
    durable: Promise<void>[],
  ): Promise<readonly TableBatch[]> {
    // If a later portion fails, nothing awaits these promises.
    durable.at(-1)?.catch(ignoreUnsynced);
    await this.#yielder.next();
    await whenIndexed(portion);
    const exists = ({ store }: AcceptedTable): boolean =>
      this.#catalog.tableById(store.tableId) !== undefined;
    return this.#appendPortion(portion.filter(exists), mapper, durable);
  }

  #hasLostTable(validation: ValidationResult): boolean {
    return validation.tables.some(
      ({ schema }) => schema !== undefined && this.#catalog.tableById(schema.id) === undefined,
    );
  }

  /**
   * Returns a function that notifies the listener of durable rows; `undefined` without a listener.
   */
  #commitNotifier(
    request: WriteRequest,
    { database }: ValidationResult,
    batches: readonly TableBatch[],
  ): (() => void) | undefined {
    const commitListener = this.#commitListener;
    if (
      commitListener === undefined ||
      database === undefined ||
      !commitListener.wants(database.id)
    )
      return;
    return () => {
      // The names are read only now: a rename while the rows become durable also renames the table
      // of triggers.
      const rows = batches.map(({ store, batch }) => ({
        table: store.schema.name,
        batch,
        index: store.series.index,
      }));
      commitListener.committed(database.id, rows, request.pluginDepth ?? 0);
    };
  }

  #accepted(validation: ValidationResult): readonly AcceptedTable[] {
    const accepted: AcceptedTable[] = [];
    for (const table of validation.tables) {
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
  #defineSeries(
    accepted: readonly AcceptedTable[],
    mapper: SeriesNumberMapper,
  ): Promise<void> | undefined {
    const many = accepted.filter((table) => this.#hasManyNewSeries(table, mapper));
    return many.length === 0 ? undefined : this.#defineSeriesYielding(many, mapper);
  }

  #hasManyNewSeries({ store, batch, parsed }: AcceptedTable, mapper: SeriesNumberMapper): boolean {
    if (batch.rowCount <= MAX_NEW_SERIES) return false;
    const { seriesNumbers } = batch;
    const { tableId } = store;
    const { index } = store.series;
    if (mapper.countUnresolved(parsed, tableId, seriesNumbers) > MAX_NEW_SERIES) return true;
    const ordinals = mapper.ordinalsOf({ table: parsed, tableId, seriesNumbers, index });
    return this.#sequencer.countUndefined(store, ordinals) > MAX_NEW_SERIES;
  }

  async #defineSeriesYielding(
    accepted: readonly AcceptedTable[],
    mapper: SeriesNumberMapper,
  ): Promise<void> {
    for (const { store, batch, parsed } of accepted) {
      const { tableId } = store;
      const { index } = store.series;
      for (let from = 0; from < batch.rowCount; from += MAX_NEW_SERIES) {
        await this.#yielder.next();
        const seriesNumbers = batch.seriesNumbers.subarray(from, from + MAX_NEW_SERIES);
        this.#sequencer.define(
          store,
          mapper.ordinalsOf({ table: parsed, tableId, seriesNumbers, index }),
        );
      }
    }
  }

  #mapperOf(parserId: number, epoch: number): SeriesNumberMapper {
    let mapper = this.#mappers.get(parserId);
    if (mapper === undefined || mapper.epoch !== epoch) {
      mapper = new SeriesNumberMapper(epoch);
      this.#mappers.set(parserId, mapper);
    }
    return mapper;
  }
}

/** Names of message formats, for errors. */
const MESSAGES: Readonly<Record<NonNullable<ParsedBody['format']>, string>> = {
  remote_write: 'remote write',
  otlp_metrics: 'OpenTelemetry metrics',
};

/** Throws if the complete body is refused. */
function throwIfRefused({ format, invalid, tooSparse }: ParsedBody): void {
  if (invalid !== undefined)
    throw tsdbError('message_invalid', {
      message: MESSAGES[format ?? 'remote_write'],
      why: invalid,
    });
  if (tooSparse !== undefined) throw tsdbError('body_too_sparse', tooSparse);
}

/** Whether the complete body is refused. */
const isRefused = ({ tooSparse, invalid }: ParsedBody): boolean =>
  tooSparse !== undefined || invalid !== undefined;

const columnBytes = ({ tables }: Pick<ParsedBody, 'tables'>): number =>
  tables.reduce((sum, { rowCount, fields }) => sum + 8 * rowCount * fields.length, 0);

/** Upper bound of the size of the float columns that the catalog created from integers. */
const convertedSizeBytes = (parsed: ParsedBody, { tables }: ValidationResult): number =>
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

const allDurable = (durable: readonly Promise<void>[]): Promise<void> =>
  Promise.all(durable).then(() => undefined);

/** Replaces the parser's numbers with ordinals of the table's index: in place, so only once. */
function translateSeries(
  { store, batch, parsed }: AcceptedTable,
  mapper: SeriesNumberMapper,
): TableBatch {
  const { seriesNumbers, rowCount, times, fields } = batch;
  const { index } = store.series;
  mapper.translate({ table: parsed, tableId: store.tableId, seriesNumbers, index });
  return { store, batch: { rowCount, seriesOrdinals: seriesNumbers, times, fields } };
}

function throwNotDurable(cause: unknown): never {
  throw cause instanceof DiskFull ? cause : tsdbError('node_read_only', undefined, cause);
}
