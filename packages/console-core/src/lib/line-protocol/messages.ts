import type { CsvHead, CsvMapping, LineCheck } from '@plinth/line-protocol';
import type { WorkerFailure } from '../worker-failure.js';
import type { RefusedGroup } from './refused-groups.js';

/** The progress of reading a file, and the outcome of its rows. */
export interface CsvProgress {
  readonly readBytes: number;
  /** Rows that are valid points. */
  readonly rowCount: number;
  /** Valid rows with fewer values than columns. */
  readonly shortCount: number;
  readonly writtenCount: number;
  readonly refusedCount: number;
  /** Set if the server has not listed all rejected rows, so that fewer rows were written. */
  readonly isOpen: boolean;
  readonly refused: readonly RefusedGroup[];
  /** The first points, for the preview. */
  readonly lines: readonly string[];
}

/** The messages to the worker. */
export type LineRequest =
  | { readonly kind: 'check'; readonly id: number; readonly text: string }
  | { readonly kind: 'head'; readonly id: number; readonly file: File }
  | {
      readonly kind: 'preview' | 'write';
      readonly id: number;
      readonly file: File;
      readonly mapping: CsvMapping;
      readonly url: string;
      readonly headers: Readonly<Record<string, string>>;
    }
  | { readonly kind: 'cancel'; readonly id: number };

/** The messages from the worker. */
export type LineReply =
  | { readonly kind: 'checked'; readonly id: number; readonly check: LineCheck }
  | { readonly kind: 'head'; readonly id: number; readonly head: CsvHead }
  | { readonly kind: 'progress'; readonly id: number; readonly progress: CsvProgress }
  | { readonly kind: 'done'; readonly id: number; readonly progress: CsvProgress }
  | { readonly kind: 'unreadable'; readonly id: number; readonly message: string }
  | WorkerFailure;
