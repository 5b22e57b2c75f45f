import type { Segment } from '../../../storage/segments/segment.js';
import { FileDamaged, type SegmentFiles } from '../../../storage/segments/segment-files.js';
import { Pinned } from '../scan/pinned.js';
import { segmentSources } from '../scan/segment-sources.js';
import type { Source } from '../scan/sources.js';

/** A segment in use by this process. */
export interface OpenSegment {
  readonly segment: Segment;
  readonly pinned: Pinned;
  /** Set once the file's checksum was found right. */
  verified: Promise<void> | undefined;
  /** That the file is damaged is told once, not with every query. */
  isReported: boolean;
}

/** The segments of one table. */
export class TableSegments {
  /** Replaced when it changes, never changed itself. */
  list: readonly OpenSegment[] = [];
  readonly #files: SegmentFiles;
  readonly #onDamaged: (segment: Segment, error: FileDamaged) => void;
  readonly #onError: (error: unknown) => void;

  constructor(options: {
    readonly files: SegmentFiles;
    /** Hears once of each. */
    readonly onDamaged: (segment: Segment, error: FileDamaged) => void;
    readonly onError: (error: unknown) => void;
  }) {
    this.#files = options.files;
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
    open.verified ??= this.#files.verify(open.segment).catch((error: unknown) => {
      if (error instanceof FileDamaged) this.noteDamaged(open, error);
      open.verified = undefined; // The next query looks again: the file may have been restored.
      throw error;
    });
    return open.verified;
  }

  /** Tells of it, unless somebody has. */
  noteDamaged(open: OpenSegment, error: FileDamaged): void {
    if (!open.isReported) this.#onDamaged(open.segment, error);
    open.isReported = true;
  }
}
