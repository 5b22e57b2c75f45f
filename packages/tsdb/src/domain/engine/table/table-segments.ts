import type { Segment } from '../../../storage/segments/segment.js';
import type { SegmentFiles } from '../../../storage/segments/segment-files.js';
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
  readonly #onError: (error: unknown) => void;

  constructor(files: SegmentFiles, onError: (error: unknown) => void) {
    this.#files = files;
    this.#onError = onError;
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
      if (!open.isReported) this.#onError(error);
      open.isReported = true;
      open.verified = undefined; // The next query looks again: the file may have been restored.
      throw error;
    });
    return open.verified;
  }
}
