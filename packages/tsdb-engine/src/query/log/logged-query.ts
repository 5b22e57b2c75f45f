import type { Clock, Principal, RequestSpan } from '@plinth/kernel';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import type { QueryOutcome, QueryPhase } from '@plinth/tsdb-model/query/query-outcome.js';
import type { Segment } from '@plinth/tsdb-model/segment.js';
import type { CancelReason } from '../slots/cancellable-query-context.js';

/** Properties of a query that do not change while it runs. */
export interface QueryProperties {
  readonly id: string;
  readonly language: string;
  readonly text: string;
  /** The database named in the request. */
  readonly database?: string | undefined;
  /** Span of the request, if tracing is on. */
  readonly span?: RequestSpan | undefined;
  readonly owner: string;
  /** The token or user whose revocation cancels the query. */
  readonly principal?: Principal | undefined;
  readonly issueNs: bigint;
}

/**
 * The progress of one query. Each method records one step; they are called in this order. Only
 * `ended` may come at any time, and only its first call counts.
 */
export class LoggedQuery {
  readonly properties: QueryProperties;
  readonly #clock: Clock;
  readonly #onEnded: (query: LoggedQuery) => void;
  /** Milliseconds of the monotonic clock, like all times here. */
  readonly startMs: number;
  #phase: QueryPhase = 'received';
  /** Time at which the query acquired a slot, or acquired one again after waiting for DuckDB. */
  #slotAcquiredMs: number | undefined;
  #preparedMs: number | undefined;
  #endMs: number | undefined;
  /** Start of the current wait for the client to read more rows. */
  #chunkReturnedMs: number | undefined;
  #clientMs = 0;
  #partitionCount: number | undefined;
  #fileCount: number | undefined;
  #cancel: ((reason: CancelReason) => void) | undefined;
  #rowCount = 0;
  #reservedBytes = 0;
  #peakReservedBytes = 0;

  /** @param onEnded called once, after the end is recorded. */
  constructor(
    properties: QueryProperties,
    clock: Clock,
    onEnded: (query: LoggedQuery) => void = () => {},
  ) {
    this.properties = properties;
    this.#onEnded = onEnded;
    this.#clock = clock;
    this.startMs = clock.monotonicMs();
  }

  /** Sets the function that cancels the query. */
  cancelWith(cancel: (reason: CancelReason) => void): void {
    this.#cancel = cancel;
  }

  /**
   * Cancels the query; its client receives `reason`. Has no effect on a query that has ended.
   */
  cancel(reason: CancelReason = tsdbError('query_cancelled')): void {
    this.#cancel?.(reason);
  }

  /** Call when the query has a slot among the concurrent queries. */
  slotAcquired(): void {
    this.#slotAcquiredMs = this.#clock.monotonicMs();
  }

  planned(): void {
    this.#phase = 'logically_planned';
  }

  /**
   * Call when the segments are pinned and DuckDB can start. A query that reads incrementally calls
   * this for each part.
   */
  prepared(segmentsOfScans: readonly (readonly Segment[])[]): void {
    // InfluxDB's name for this phase. The slot was acquired earlier, before planning.
    this.#phase = 'execution_permit';
    this.#preparedMs = this.#clock.monotonicMs();
    this.#fileCount ??= 0;
    this.#partitionCount ??= 0;
    for (const segments of segmentsOfScans) {
      this.#fileCount += segments.length;
      this.#partitionCount += new Set(segments.map((segment) => segment.partitionStartNs)).size;
    }
  }

  /** Adds rows that were passed to the encoder. */
  returned(rowCount: number): void {
    this.#rowCount += rowCount;
  }

  /** Adds bytes that the query reserves from a memory budget; see `QueryContext.reserved`. */
  reserved(sizeBytes: number): void {
    this.#reservedBytes += sizeBytes;
    this.#peakReservedBytes = Math.max(this.#peakReservedBytes, this.#reservedBytes);
  }

  /** Part of the result was sent, and the client has not requested the next part yet. */
  chunkReturned(): void {
    this.#chunkReturnedMs = this.#clock.monotonicMs();
  }

  chunkRequested(): void {
    if (this.#chunkReturnedMs === undefined) return;
    this.#clientMs += this.#clock.monotonicMs() - this.#chunkReturnedMs;
    this.#chunkReturnedMs = undefined;
  }

  ended(outcome: QueryOutcome): void {
    if (this.#endMs !== undefined) return;
    this.chunkRequested();
    this.#endMs = this.#clock.monotonicMs();
    this.#phase = outcome;
    this.#cancel = undefined;
    this.#onEnded(this);
  }

  get phase(): QueryPhase {
    return this.#phase;
  }

  /** Time from the start until now, or until the end of a finished query. */
  get ageMs(): number {
    return (this.#endMs ?? this.#clock.monotonicMs()) - this.startMs;
  }

  get isRunning(): boolean {
    return this.#endMs === undefined;
  }

  /** Number of partitions whose files were read, over all tables of the query. */
  get partitionCount(): number | undefined {
    return this.#partitionCount;
  }

  get fileCount(): number | undefined {
    return this.#fileCount;
  }

  /** Number of rows of all statements so far. */
  get rowCount(): number {
    return this.#rowCount;
  }

  /** Estimated peak of the memory reserved for sorts, sorted rows and slices of the result. */
  get peakReservedBytes(): number {
    return this.#peakReservedBytes;
  }

  get slotAcquiredMs(): number | undefined {
    return this.#slotAcquiredMs;
  }

  get preparedMs(): number | undefined {
    return this.#preparedMs;
  }

  get endMs(): number | undefined {
    return this.#endMs;
  }

  get permitNs(): bigint | undefined {
    return nanosBetween(this.startMs, this.#slotAcquiredMs);
  }

  get planNs(): bigint | undefined {
    return nanosBetween(this.#slotAcquiredMs, this.#preparedMs);
  }

  get executeNs(): bigint | undefined {
    return nanosBetween(this.#preparedMs, this.#endMs);
  }

  get endToEndNs(): bigint | undefined {
    return nanosBetween(this.startMs, this.#endMs);
  }

  /** Execution time without the time spent waiting for the client. */
  get computeNs(): bigint | undefined {
    if (this.#endMs === undefined) return undefined;
    return nanosBetween(this.#preparedMs, this.#endMs - this.#clientMs);
  }
}

function nanosBetween(startMs: number | undefined, endMs: number | undefined): bigint | undefined {
  if (startMs === undefined || endMs === undefined) return undefined;
  return BigInt(Math.round((endMs - startMs) * 1e6));
}
