import type { Kind } from './kinds.js';

/** Content of a data set, by the names of its stored groups. */
export interface Manifest {
  readonly defaultLanguage: string;
  readonly languages: readonly string[];
  readonly aliases: Readonly<Partial<Record<Kind, Readonly<Record<string, string>>>>>;
  readonly groups: Readonly<Record<Kind, readonly string[]>>;
}

export type ChangeOp = 'created' | 'updated' | 'deleted';

export interface RecordChange {
  readonly kind: Kind;
  readonly id: string;
  readonly op: ChangeOp;
  readonly replacedBy?: string;
}

export interface ChangeCounts {
  readonly created: number;
  readonly updated: number;
  readonly deleted: number;
}

/** A published state of all records. */
export interface Version {
  readonly version: number;
  readonly publishedMs: number;
  readonly message: string;
  readonly actor: string;
  readonly source: string;
  readonly manifest: Manifest;
  readonly counts: Readonly<Record<Kind, number>>;
  readonly changes: ChangeCounts;
  readonly changesObject: string;
}

export const HISTORY_OPS = [
  'create',
  'update',
  'delete',
  'import',
  'publish',
  'restore',
  'undo',
  'redo',
] as const;
export type HistoryOp = (typeof HISTORY_OPS)[number];

/** Marks discarded changes in the history. Versions start at 1. */
export const NO_VERSION = 0;

export interface HistoryEntry {
  readonly seq: number;
  readonly atMs: number;
  readonly actor: string;
  readonly op: HistoryOp;
  readonly kind: Kind | null;
  readonly id: string | null;
  /** Stored records before and after the change, as JSON. */
  readonly before: string | null;
  readonly after: string | null;
  readonly replacedBy: string | null;
  readonly aboutSeq: number | null;
  readonly version: number | null;
}

export interface DraftRecord {
  readonly kind: Kind;
  readonly id: string;
  readonly seq: number;
  readonly body: string | null;
  readonly replacedBy: string | null;
}

export interface StoredDraft extends DraftRecord {
  /**
   * Number of the change since which the record has been present in the draft, or absent from it.
   */
  readonly sinceSeq: number;
}

/** A reply that is repeated for the same request. */
export interface CachedReply {
  readonly bodyHash: string;
  readonly status: number;
  readonly reply: string;
}
