import { send, sendForJson } from './client.js';

interface Place {
  readonly db: string;
  readonly table: string;
}

export interface StoredFile extends Place {
  readonly path: string;
  readonly kind: 'unique' | 'overlay';
  readonly level: number;
  readonly row_count: number;
  readonly size_bytes: number;
  /** Nanoseconds since 1970. */
  readonly min_time: string;
  readonly max_time: string;
}

export interface Storage {
  readonly buffered_bytes: number;
  readonly buffered_ms: number;
  readonly log_bytes: number;
  readonly log_file_count: number;
  readonly obstacle: string | null;
  readonly flush: {
    readonly running: {
      readonly since: string;
      readonly table_count: number;
      readonly done_count: number;
    } | null;
    readonly last: {
      readonly ended_at: string;
      readonly duration_ms: number;
      readonly error: string | null;
    } | null;
  };
  readonly compaction: {
    readonly running: (Place & { readonly since: string; readonly file_count: number }) | null;
    readonly waiting: readonly Place[];
    readonly merge_count: number;
    readonly last_failure: (Place & { readonly failed_at: string; readonly error: string }) | null;
  };
  readonly files?: readonly StoredFile[];
  readonly file_count?: number;
}

const STORAGE = '/ops/v1/tsdb/storage';

export const fetchStorage = (
  query: { db?: string; table?: string; limit?: number } = {},
): Promise<Storage> => sendForJson(STORAGE, { query });

export const flushStorage = (): Promise<unknown> => send(`${STORAGE}/flush`, { method: 'POST' });

/** @param within compacts only the time range of this file. */
export const compactTable = (place: Place, within?: StoredFile): Promise<unknown> =>
  send(`${STORAGE}/compact`, {
    body: {
      ...place,
      ...(within && { min_time: within.min_time, max_time: within.max_time }),
    },
  });
