import type { ResultChunk } from '@plinth/tsdb-model/columns/result.js';
import type { BatchRows } from './batch-rows.js';
import { ChangedBuckets } from './changed-buckets.js';
import { GatheredRows } from './gathered-rows.js';
import type { LivePlan } from './live-plan.js';
import type { LiveSink } from './live-sink.js';
import { completeSeq, type Position } from './position.js';
import { RowMatch, SeriesMatch } from './row-match.js';

/** Rows of this total size are sent without waiting for the next interval. */
const EVENT_BYTES = 64 * 1024;
/** Maximum size of rows that wait for DuckDB, or for the end of a catch-up. */
const MAX_GATHERED_BYTES = 1024 * 1024;

/** Runs the statement of a live query. */
export interface LiveStatements {
  /** Returns the result for these rows only. */
  compute(query: LiveQuery, rows: GatheredRows): Promise<readonly ResultChunk[]>;
  /** Returns the result for one time range. Both bounds are inclusive. */
  bucketRows(
    query: LiveQuery,
    minTimeNs: bigint,
    maxTimeNs: bigint,
  ): Promise<readonly ResultChunk[]>;
}

/** A catch-up: rows written up to `throughSeq` are read from the log, before later rows are sent. */
interface CatchUp {
  afterSeq: bigint;
  throughSeq: bigint;
  /** Rows written later. */
  readonly gathered: GatheredRows | undefined;
  /** The client has read up to here within a write. */
  readonly skipped: Position;
}

/**
 * One live query: collects the rows that concern it, and sends them. Rows of a `copied` query are sent in batches;
 * other results are computed at intervals.
 */
export class LiveQuery {
  readonly database: { readonly id: number; readonly name: string };
  readonly text: string;
  readonly sink: LiveSink;
  readonly isLetIn: () => boolean;
  #plan: LivePlan;
  #series: SeriesMatch;
  #match: RowMatch;
  #rows: GatheredRows;
  readonly #buckets: ChangedBuckets | undefined;
  #position: Position;
  #dropped: { rowCount: number; readonly from: Position; to: Position } | undefined;
  #catchUp: CatchUp | undefined;
  /** Number of catch-ups so far. If one starts during a computation, it sends these rows, and the result is dropped. */
  #catchUpCount = 0;
  #isComputing = false;
  sentRowCount = 0;
  droppedRowCount = 0;
  /** Set once the stream has ended. */
  hasEnded = false;

  /** @param options.position rows after it are sent. */
  constructor(options: {
    readonly database: { readonly id: number; readonly name: string };
    readonly text: string;
    readonly plan: LivePlan;
    readonly sink: LiveSink;
    readonly position: Position;
    readonly isLetIn: () => boolean;
  }) {
    this.database = options.database;
    this.text = options.text;
    this.sink = options.sink;
    this.isLetIn = options.isLetIn;
    this.#position = options.position;
    this.#plan = options.plan;
    this.#series = new SeriesMatch(options.plan.conditions.tagConditions);
    this.#match = new RowMatch(options.plan.conditions);
    this.#rows = newRows(options.plan);
    const { output } = options.plan;
    this.#buckets = output.kind === 'buckets' ? new ChangedBuckets(output.widthNs) : undefined;
  }

  get plan(): LivePlan {
    return this.#plan;
  }

  get series(): SeriesMatch {
    return this.#series;
  }

  /** Returns whether new columns of the table belong to the result. */
  get readsAllColumns(): boolean {
    return this.#buckets === undefined && this.text.includes('*');
  }

  get catchUp(): Readonly<Pick<CatchUp, 'afterSeq' | 'throughSeq'>> | undefined {
    return this.#catchUp;
  }

  /** Starts a catch-up. Rows up to `throughSeq` will arrive through `takeFromLog`. */
  beginCatchUp(throughSeq: bigint): void {
    const dropped = this.#buckets === undefined ? this.#dropped : undefined;
    const from = dropped?.to ?? this.#position;
    this.#catchUpCount++;
    this.#catchUp = {
      afterSeq: completeSeq(from),
      throughSeq,
      gathered: this.#buckets === undefined ? newRows(this.#plan) : undefined,
      skipped: from,
    };
    this.#rows.clear();
  }

  /** Uses a new plan because the table has new columns. */
  usePlan(plan: LivePlan, throughSeq: bigint): void {
    this.#plan = plan;
    this.#series = new SeriesMatch(plan.conditions.tagConditions);
    this.#match = new RowMatch(plan.conditions);
    this.#rows = newRows(plan);
    this.beginCatchUp(throughSeq);
  }

  /**
   * Takes a row of a matching series that was just written.
   * @returns whether `sendRows` has rows to send.
   */
  take(rows: BatchRows, row: number, seq: bigint): boolean {
    if (!this.#match.matches(rows, row)) return false;
    if (this.#buckets !== undefined) {
      this.#noteDropped(this.#buckets.touch(rows.batch.times[row] as bigint, seq), seq);
      return false;
    }
    const catchUp = this.#catchUp;
    if (catchUp === undefined) this.#gather(rows, row, seq);
    else if (seq > catchUp.throughSeq) hold(catchUp, rows, row, seq);
    return catchUp === undefined && this.#plan.output.kind === 'copied';
  }

  /** Like `take`, during a catch-up. */
  takeFromLog(rows: BatchRows, row: number, seq: bigint): void {
    const catchUp = this.#catchUp;
    if (catchUp === undefined || seq <= catchUp.afterSeq || seq > catchUp.throughSeq) return;
    if (!this.#match.matches(rows, row)) return;
    if (this.#buckets !== undefined) {
      this.#noteDropped(this.#buckets.touch(rows.batch.times[row] as bigint, seq), seq);
      return;
    }
    const { skipped } = catchUp;
    this.#rows.push(
      rows,
      row,
      seq,
      (count) => seq === skipped.seq && count <= (skipped.count ?? 0),
    );
  }

  #gather(rows: BatchRows, row: number, seq: bigint): void {
    const gathered = this.#rows;
    if (gathered.sizeBytes >= MAX_GATHERED_BYTES) {
      const { rowCount, countOfSeq } = gathered;
      // Further rows of the same write may follow.
      const count = gathered.seq === seq ? { count: countOfSeq } : {};
      this.#drop(rowCount, { seq: gathered.seq, ...count });
      gathered.clear();
    }
    gathered.push(rows, row, seq, () => false);
    if (this.#plan.output.kind === 'copied' && gathered.sizeBytes >= EVENT_BYTES)
      this.#sendCopied({ seq, count: gathered.countOfSeq });
  }

  /** Sends copied rows; called between two writes. */
  sendRows(): void {
    if (this.#catchUp === undefined && this.#plan.output.kind === 'copied')
      this.#sendCopied({ seq: this.#rows.seq });
  }

  #sendCopied(position: Position): void {
    const rows = this.#rows;
    if (rows.rowCount === 0) {
      this.#sendDropped();
      return;
    }
    if (!this.#sendDropped() || !this.#send([rows.toChunk()], rows.rowCount, position))
      this.#drop(rows.rowCount, position);
    rows.clear();
  }

  /** Returns whether `compute` has work to do. */
  get needsComputing(): boolean {
    if (this.hasEnded || this.#isComputing) return false;
    if (this.#buckets !== undefined) return this.#buckets.count > 0 && this.sink.hasRoom;
    return (
      this.#catchUp === undefined &&
      this.#plan.output.kind === 'computed' &&
      this.#rows.rowCount > 0
    );
  }

  /** Computes and sends the results for the rows up to now. */
  async compute(statements: LiveStatements): Promise<void> {
    this.#isComputing = true;
    try {
      if (this.#buckets === undefined) await this.#computeRows(statements);
      else await this.#computeBuckets(this.#buckets, statements);
    } finally {
      this.#isComputing = false;
    }
  }

  async #computeRows(statements: LiveStatements): Promise<void> {
    const rows = this.#rows;
    this.#rows = newRows(this.#plan);
    const chunks = await this.#resultOf(rows, statements);
    if (chunks === undefined) return;
    const position = { seq: rows.seq };
    const rowCount = rowCountOf(chunks);
    if (rowCount === 0) this.#position = position;
    else if (!this.#sendDropped() || !this.#send(chunks, rowCount, position))
      this.#drop(rowCount, position);
  }

  /** Returns `undefined` if the result must not be sent. */
  async #resultOf(
    rows: GatheredRows,
    statements: LiveStatements,
  ): Promise<readonly ResultChunk[] | undefined> {
    const count = this.#catchUpCount;
    const chunks = await statements.compute(this, rows);
    if (!this.hasEnded && count === this.#catchUpCount) return chunks;
    for (const chunk of chunks) chunk.release?.();
    return undefined;
  }

  /**
   * Computes and sends buckets. Buckets that the client cannot accept are sent later: their newest values replace the
   * earlier ones.
   */
  async #computeBuckets(buckets: ChangedBuckets, statements: LiveStatements): Promise<void> {
    if (!this.#sendDropped()) return;
    const { seq } = buckets;
    const ranges = [...buckets.takeRanges()];
    // Buckets that later writes changed have no effect on the position.
    const isComplete = this.#catchUp === undefined && buckets.count === 0;
    try {
      for (let range = ranges[0]; range !== undefined; range = ranges[0]) {
        const chunks = await statements.bucketRows(this, range.minTimeNs, range.maxTimeNs);
        if (this.hasEnded) return;
        const rowCount = rowCountOf(chunks);
        // The position advances when all buckets up to it were sent.
        if (rowCount > 0 && !this.#send(chunks, rowCount, this.#position)) return;
        ranges.shift();
      }
    } finally {
      for (const range of ranges) buckets.putBack(range);
    }
    if (isComplete && seq > this.#position.seq) this.#position = { seq };
  }

  #send(chunks: readonly ResultChunk[], rowCount: number, position: Position): boolean {
    const kind = this.#buckets === undefined ? 'rows' : 'bucket';
    const isSent = this.sink.rows(kind, { columns: this.#plan.columns, chunks }, position);
    for (const chunk of chunks) chunk.release?.();
    if (!isSent) return false;
    this.#position = position;
    this.sentRowCount += rowCount;
    return true;
  }

  #noteDropped(rowCount: number, seq: bigint): void {
    if (rowCount > 0) this.#drop(rowCount, { seq });
  }

  #drop(rowCount: number, to: Position): void {
    this.#dropped ??= { rowCount: 0, from: this.#position, to };
    this.#dropped.rowCount += rowCount;
    this.#dropped.to = to;
    this.droppedRowCount += rowCount;
  }

  /**
   * Returns false if the client has not been notified yet of dropped rows. Buckets are dropped before others of earlier
   * writes are sent, so the position does not change.
   */
  #sendDropped(): boolean {
    const dropped = this.#dropped;
    if (dropped === undefined) return true;
    if (!this.sink.hasRoom) return false;
    const position = this.#buckets === undefined ? dropped.to : this.#position;
    if (!this.sink.notice({ kind: 'dropped', ...dropped }, position)) return false;
    this.#position = position;
    this.#dropped = undefined;
    return true;
  }

  /** Reports a gap, because rows up to `seq` can no longer be read. */
  skipGap(seq: bigint): boolean {
    const catchUp = this.#catchUp;
    if (catchUp === undefined) return true;
    const to = { seq };
    if (!this.sink.notice({ kind: 'gap', from: this.#position, to }, to)) return false;
    this.#position = to;
    catchUp.afterSeq = seq;
    if (catchUp.throughSeq < seq) catchUp.throughSeq = seq;
    return true;
  }

  /** Returns whether rows of a catch-up should be sent before more rows are read. */
  get isFull(): boolean {
    return this.#rows.sizeBytes >= EVENT_BYTES;
  }

  /**
   * Sends the rows of a catch-up up to the write `seq`. They are not dropped if the client reads
   * slowly.
   * @returns false if they could not be sent: the catch-up continues later.
   */
  async sendCaughtUp(seq: bigint, statements: LiveStatements): Promise<boolean> {
    const catchUp = this.#catchUp;
    if (catchUp === undefined) return true;
    catchUp.afterSeq = seq;
    const rows = this.#rows;
    if (rows.rowCount === 0) return true;
    if (!this.sink.hasRoom) return false;
    const isCopied = this.#plan.output.kind === 'copied';
    const chunks = isCopied ? [rows.toChunk()] : await this.#resultOf(rows, statements);
    if (chunks === undefined) return false;
    const rowCount = rowCountOf(chunks);
    if (rowCount > 0 && !this.#send(chunks, rowCount, { seq })) return false;
    rows.clear();
    return true;
  }

  /** @returns whether the log contains no more rows to read; later rows are then taken directly. */
  endCatchUp(): boolean {
    const catchUp = this.#catchUp;
    if (catchUp === undefined) return true;
    if (catchUp.afterSeq < catchUp.throughSeq) return false;
    this.#catchUp = undefined;
    // Buckets are sent later; until then, a client that reconnects must find them again.
    if (catchUp.gathered !== undefined) {
      this.#rows = catchUp.gathered;
      this.#position = { seq: catchUp.throughSeq };
    }
    return true;
  }

  /** @param seq all rows up to this write were taken. */
  heartbeat(seq: bigint): void {
    const isIdle =
      this.#catchUp === undefined &&
      this.#dropped === undefined &&
      !this.#isComputing &&
      this.#rows.rowCount === 0 &&
      (this.#buckets?.count ?? 0) === 0;
    if (isIdle && seq > this.#position.seq) this.#position = { seq };
    this.sink.heartbeat(this.#position);
  }
}

/** Holds a row during a catch-up. Rows above the size limit are read from the log instead. */
function hold(catchUp: CatchUp, rows: BatchRows, row: number, seq: bigint): void {
  const { gathered } = catchUp;
  if (gathered === undefined) return;
  if (gathered.sizeBytes >= MAX_GATHERED_BYTES) {
    gathered.clear();
    catchUp.throughSeq = seq;
    return;
  }
  gathered.push(rows, row, seq, () => false);
}

const newRows = ({ output }: LivePlan): GatheredRows =>
  new GatheredRows(output.kind === 'buckets' ? [] : output.rowColumns);

const rowCountOf = (chunks: readonly ResultChunk[]): number =>
  chunks.reduce((sum, { rowCount }) => sum + rowCount, 0);
