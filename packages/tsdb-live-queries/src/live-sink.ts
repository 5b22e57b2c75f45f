import type { OutputColumn, ResultChunk } from '@plinth/tsdb-model/columns/result.js';
import type { Position } from './position.js';

/** The notices that a client receives in addition to rows. */
export type LiveNotice =
  /** The first event: rows after this position follow. */
  | { readonly kind: 'start' }
  /** Rows between these positions can no longer be sent: only a query returns them. */
  | { readonly kind: 'gap'; readonly from: Position; readonly to: Position }
  /** The client read too slowly. */
  | {
      readonly kind: 'dropped';
      readonly rowCount: number;
      readonly from: Position;
      readonly to: Position;
    };

/** The connection of one client. */
export interface LiveSink {
  /** Whether the client has little unread data. */
  readonly hasRoom: boolean;
  /**
   * Queues rows as one event.
   * @param position where a client that has read the event continues.
   * @returns false if too much data is unread; the rows are not queued.
   */
  rows(
    kind: 'rows' | 'bucket',
    result: { readonly columns: readonly OutputColumn[]; readonly chunks: readonly ResultChunk[] },
    position: Position,
  ): boolean;
  /** Like `rows`. */
  notice(notice: LiveNotice, position: Position): boolean;
  /** Keeps the connection open, and updates the client's position without an event. */
  heartbeat(position: Position): void;
  /** Ends the stream with a reason. */
  end(reason: string): void;
}
