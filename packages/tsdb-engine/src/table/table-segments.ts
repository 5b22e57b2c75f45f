import { endOfQuery } from '@plinth/tsdb-model/query/end-of-query.js';
import type { Segment } from '@plinth/tsdb-model/segment.js';
import { FileDamaged } from '@plinth/tsdb-storage/segments/file-sums.js';
import type { FileVerifier } from '@plinth/tsdb-storage/segments/file-verifier.js';
import type { SegmentFiles } from '@plinth/tsdb-storage/segments/segment-files.js';
import { Pinned } from '../scan/pinned.js';
import { segmentSources } from '../scan/segment-sources.js';
import type { Source } from '../scan/sources.js';

/** A segment in use by this process. */
export interface OpenSegment {
  readonly segment: Segment;
  readonly pinned: Pinned;
  /** Set once the file's checksum was verified. */
  verified: Promise<void> | undefined;
  /** True if damage was reported, so that it is reported only once. */
  isReported: boolean;
}

/** Verifies segments before they are read. */
export type SegmentVerifier = Pick<FileVerifier, 'check' | 'invalidate'>;

export class TableSegments {
  /** The list is replaced on each change, never mutated. */
  list: readonly OpenSegment[] = [];
  readonly #files: SegmentFiles;
  readonly #verifier: SegmentVerifier;
  readonly #onDamaged: (segment: Segment, error: FileDamaged) => void;
  readonly #onError: (error: unknown) => void;

  constructor(options: {
    readonly files: SegmentFiles;
    readonly verifier: SegmentVerifier;
    /** Called once per damaged segment. */
    readonly onDamaged: (segment: Segment, error: FileDamaged) => void;
    readonly onError: (error: unknown) => void;
  }) {
    this.#files = options.files;
    this.#verifier = options.verifier;
    this.#onDamaged = options.onDamaged;
    this.#onError = options.onError;
  }

  open(segment: Segment): OpenSegment {
    return {
      segment,
      verified: undefined,
      isReported: false,
      pinned: new Pinned(() => {
        this.#files.removeUnlessPublished(segment.objectName).catch(this.#onError);
      }),
    };
  }

  /** Returns the segments with rows between the two timestamps. */
  touching(minTime: bigint, maxTime: bigint): OpenSegment[] {
    return this.list.filter(
      ({ segment }) => segment.minTime <= maxTime && segment.maxTime >= minTime,
    );
  }

  sourcesOf(segments: readonly OpenSegment[]): Source[] {
    return segmentSources(
      this.#files,
      segments.map((open) => open.segment),
    );
  }

  /** Resolves if the file's checksum is correct; a successful check is not repeated. */
  verify(open: OpenSegment): Promise<void> {
    open.verified ??= this.#verifier.check(open.segment).catch((error: unknown) => {
      if (error instanceof FileDamaged) this.noteDamaged(open, error);
      open.verified = undefined; // the next query retries: the file may have been restored
      throw error;
    });
    return open.verified;
  }

  /**
   * Verifies one segment after another: a query that reads few files must not wait for all files of
   * a larger query.
   */
  async verifyAll(segments: readonly OpenSegment[], signal?: AbortSignal): Promise<void> {
    for (const open of segments) {
      if (signal?.aborted) throw endOfQuery(signal);
      await this.verify(open);
    }
  }

  /**
   * Call if DuckDB failed to read segments. Those with a cached check are verified again in the
   * background.
   */
  invalidate(segments: readonly OpenSegment[]): void {
    const unverified = segments.filter((open) => this.#verifier.invalidate(open.segment));
    for (const open of unverified) {
      open.verified = undefined;
      open.pinned.pin();
    }
    void this.#verify(unverified);
  }

  async #verify(segments: readonly OpenSegment[]): Promise<void> {
    for (const open of segments) {
      await this.verify(open).catch((error: unknown) => {
        if (!(error instanceof FileDamaged)) this.#onError(error); // `verify` has reported the damage
      });
      open.pinned.unpin();
    }
  }

  /** Reports the damage, unless it was reported before. */
  noteDamaged(open: OpenSegment, error: FileDamaged): void {
    if (!open.isReported) this.#onDamaged(open.segment, error);
    open.isReported = true;
  }
}
