import { NodeReadOnly, WriteEmpty } from '../../errors.js';
import type { ParsedBody, ParsedTable } from '../../model/parsed-body.js';
import type { TableSchema } from '../../model/schema.js';
import type { Admission, Catalog } from '../catalog/catalog.js';
import { acceptedRows, refusedLines } from './admitted-rows.js';
import type { CommitListener } from './commit-listener.js';
import type { WriteOutcome, WriteRequest } from './engine.js';
import { ParserSeries } from './parser-series.js';
import type { TableStore } from './table-store.js';
import type { BatchForTable, WriteBuffer } from './write-buffer.js';

/** A body read by one of the parsers. Results of one parser must reach the write path in the order of its work. */
export interface ReadBody {
  /** Which parser numbered the series. */
  readonly parserId: number;
  readonly parsed: ParsedBody;
  /** The body again: reading it in another thread moved it there and back. */
  readonly body: Uint8Array;
}

export interface BodyReader {
  /** A promise when another thread does the work. Throws `BodyNotUtf8`. */
  read(request: WriteRequest): ReadBody | Promise<ReadBody>;
}

/** From a body to durable rows: read, check against the schema, log, buffer. */
export class WritePath {
  readonly #reader: BodyReader;
  readonly #catalog: Catalog;
  readonly #buffer: WriteBuffer;
  readonly #storeOf: (schema: TableSchema) => TableStore;
  readonly #commits: CommitListener | undefined;
  readonly #parsers = new Map<number, ParserSeries>();
  /** Bodies on their way to the buffer: many at a time must not pass its limit together. */
  #underwayBytes = 0;

  constructor(options: {
    readonly reader: BodyReader;
    readonly catalog: Catalog;
    readonly buffer: WriteBuffer;
    /** The table's store; brings its picture of the columns up to date. */
    readonly storeOf: (schema: TableSchema) => TableStore;
    readonly commits: CommitListener | undefined;
  }) {
    this.#reader = options.reader;
    this.#catalog = options.catalog;
    this.#buffer = options.buffer;
    this.#storeOf = options.storeOf;
    this.#commits = options.commits;
  }

  async write(request: WriteRequest): Promise<WriteOutcome> {
    const sizeBytes = request.body.byteLength;
    this.#buffer.assertRoom(this.#underwayBytes + sizeBytes);
    this.#underwayBytes += sizeBytes;
    try {
      return await this.#take(request);
    } finally {
      this.#underwayBytes -= sizeBytes;
    }
  }

  async #take(request: WriteRequest): Promise<WriteOutcome> {
    const reading = this.#reader.read(request);
    const read = reading instanceof Promise ? await reading : reading;
    const { parsed } = read;
    const parser = this.#parserOf(read.parserId);
    parser.note(parsed.epoch, parsed.tables);
    const admitting = this.#admit(request, parsed, parser);
    let admission = admitting instanceof Promise ? await admitting : admitting;
    // A table that was deleted while this waited takes no more rows: the name is free for another.
    while (this.#hasLostTable(admission)) admission = await this.#admit(request, parsed, parser);
    if (parsed.lineCount === 0) throw new WriteEmpty();
    const refused = refusedLines(read.body, parsed, admission);
    if (refused.length > 0 && !request.acceptPartial) {
      return { writtenCount: 0, lineCount: parsed.lineCount, refused };
    }
    const batches = this.#batches(admission, parser);
    if (batches.length > 0) {
      const durable = this.#buffer.append(batches);
      const tell = this.#teller(request, admission, batches);
      if (request.noSync) durable.then(tell, ignoreUnsynced);
      else {
        await durable.catch(reportReadOnly);
        tell?.();
      }
    }
    const writtenCount = batches.reduce((sum, { batch }) => sum + batch.rowCount, 0);
    return { writtenCount, lineCount: parsed.lineCount, refused };
  }

  #admit(
    request: WriteRequest,
    parsed: ParsedBody,
    parser: ParserSeries,
  ): Admission | Promise<Admission> {
    return this.#catalog.admit({
      database: request.database,
      isOwn: request.isOwn === true,
      tables: parsed.tables,
      allOrNothing: !request.acceptPartial,
      alreadyRefused: parsed.refused,
      seriesOf: (table: ParsedTable, series: number) => parser.tagsOf(table, series),
    });
  }

  #hasLostTable(admission: Admission): boolean {
    return admission.tables.some(
      ({ schema }) => schema !== undefined && this.#catalog.tableById(schema.id) === undefined,
    );
  }

  /** What tells the listener that the rows are durable; `undefined`: nobody listens. */
  #teller(
    request: WriteRequest,
    { database }: Admission,
    batches: readonly BatchForTable[],
  ): (() => void) | undefined {
    const commits = this.#commits;
    if (commits === undefined || database === undefined || !commits.wants(database.id)) return;
    const rows = batches.map(({ store, batch }) => ({
      table: store.schema.name,
      batch,
      index: store.index,
    }));
    return () => commits.committed(database.id, rows, request.pluginDepth ?? 0);
  }

  #batches(admission: Admission, parser: ParserSeries): readonly BatchForTable[] {
    const batches: BatchForTable[] = [];
    for (const table of admission.tables) {
      if (table.schema === undefined || table.refusals.length === table.parsed.rowCount) continue;
      const store = this.#storeOf(table.schema);
      const batch = acceptedRows(table, table.schema);
      parser.translate({
        table: table.parsed,
        tableId: store.tableId,
        series: batch.series,
        index: store.index,
      });
      batches.push({ store, batch });
    }
    return batches;
  }

  #parserOf(parserId: number): ParserSeries {
    let parser = this.#parsers.get(parserId);
    if (parser === undefined) {
      parser = new ParserSeries();
      this.#parsers.set(parserId, parser);
    }
    return parser;
  }
}

/** The client asked not to wait: a failed sync has made the node read-only, and every later write says so. */
function ignoreUnsynced(): void {}

function reportReadOnly(cause: unknown): never {
  throw new NodeReadOnly(cause);
}
