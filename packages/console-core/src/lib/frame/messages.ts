import type { WorkerFailure } from '../worker-failure.js';
import type { Frame, FrameColumn } from './frame.js';

/** The messages to the worker. */
export type WorkerRequest =
  | {
      readonly kind: 'run';
      readonly id: number;
      readonly url: string;
      readonly headers: Readonly<Record<string, string>>;
      readonly body: string;
    }
  | { readonly kind: 'cancel'; readonly id: number }
  | {
      readonly kind: 'sort';
      readonly id: number;
      readonly column: FrameColumn;
      readonly rowCount: number;
      readonly isDescending: boolean;
    };

/** The messages from the worker. */
export type WorkerReply =
  | { readonly kind: 'sorted'; readonly id: number; readonly order: Uint32Array<ArrayBuffer> }
  | {
      readonly kind: 'progress';
      readonly id: number;
      readonly rowCount: number;
      readonly sizeBytes: number;
    }
  | {
      readonly kind: 'done';
      readonly id: number;
      readonly frame: Frame;
      readonly sizeBytes: number;
      /** Milliseconds until the first byte, and until the last. */
      readonly firstMs: number;
      readonly totalMs: number;
    }
  | WorkerFailure;
