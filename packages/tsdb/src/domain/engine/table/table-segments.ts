import { endOfQuery } from '../../../model/end-of-query.js';
import { FileDamaged } from '../../../storage/segments/file-sums.js';
import type { KnownFiles } from '../../../storage/segments/known-files.js';
import type { Segment } from '../../../storage/segments/segment.js';
import type { SegmentFiles } from '../../../storage/segments/segment-files.js';
import { Pinned } from '../scan/pinned.js';
import { segmentSources } from '../scan/segment-sources.js';
import type { Source } from '../scan/sources.js';

/** A segment in use by this process. */
export interface OpenSegment {
  readonly segment: Segment;
  readonly pinned: Pinned;
  /** Set once the file was found to be what was written. */
  verified: Promise<void> | undefined;
  /** That the file is damaged is told once, not with every query. */
  isReported: boolean;
}

/** Looks at segments before they are read. */
export type Looks = Pick<KnownFiles, 'check' | 'invalidate'>;

/** The segments of one table. */
export class TableSegments {
  /** Replaced when it changes, never changed itself. */
  list: readonly OpenSegment[] = [];
  readonly #files: SegmentFiles;
  readonly #known: Looks;
  readonly #onDamaged: (segment: Segment, error: FileDamaged) => void;
  readonly #onError: (error: unknown) => void;

  constructor(options: {
    readonly files: SegmentFiles;
    readonly known: Looks;
    /** Hears once of each. */
    readonly onDamaged: (segment: Segment, error: FileDamaged) => void;
    readonly onError: (error: unknown) => void;
  }) {
    this.#files = options.files;
    this.#known = options.known;
    this.#onDamaged = options.onDamaged;
    this.#onError = options.onError;
  }

  open(segment: Segment): OpenSegment {
    return {
      segment,
      verified: undefined,
      isReported: false,
      pinned: new Pinned(() => {
        this.#files.remove(segment.objectName).catch(this.#onError);
      }),
    };
  }

  /** Those with rows between the two instants. */
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

  /** Resolves when the file is what was written; looks once, as long as it is. */
  verify(open: OpenSegment): Promise<void> {
    open.verified ??= this.#known.check(open.segment).catch((error: unknown) => {
      if (error instanceof FileDamaged) this.noteDamaged(open, error);
      open.verified = undefined; // The next query looks again: the file may have been restored.
      throw error;
    });
    return open.verified;
  }

  /** One after the other: who reads few must not wait for all files of whoever reads many. */
  async verifyAll(segments: readonly OpenSegment[], signal?: AbortSignal): Promise<void> {
    for (const open of segments) {
      if (signal?.aborted) throw endOfQuery(signal);
      await this.verify(open);
    }
  }

  /** The engine could not read what it should: those that were taken for known are read as a whole, behind the failure. */
  invalidate(segments: readonly OpenSegment[]): void {
    const unverified = segments.filter((open) => this.#known.invalidate(open.segment));
    for (const open of unverified) {
      open.verified = undefined;
      open.pinned.pin();
    }
    void this.#lookAt(unverified);
  }

  async #lookAt(segments: readonly OpenSegment[]): Promise<void> {
    for (const open of segments) {
      await this.verify(open).catch((error: unknown) => {
        if (!(error instanceof FileDamaged)) this.#onError(error); // Damage is told.
      });
      open.pinned.unpin();
    }
  }

  /** Tells of it, unless somebody has. */
  noteDamaged(open: OpenSegment, error: FileDamaged): void {
    if (!open.isReported) this.#onDamaged(open.segment, error);
    open.isReported = true;
  }
}
