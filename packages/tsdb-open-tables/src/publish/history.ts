import type { Tree } from '../iceberg/table-schema.js';

/** The snapshots of a published table, from which its metadata is generated; stored as JSON. */
export interface PublishedHistory {
  readonly format: 1;
  /** Prefix of the object names in metadata. If the folder has moved, everything is written again. */
  readonly root: string;
  readonly nextRowId: number;
  /** RFC 3339: all rows acknowledged earlier are in segments. */
  readonly freshThrough: string;
  /** Sequence number up to which later writes of points are merged. */
  readonly mergedThrough: string;
  /** Metadata files that readers may be reading, oldest first; the last one is the newest. */
  readonly metadata: readonly { readonly version: number; readonly timestampMs: number }[];
  /** Oldest first; the last one is the current one. */
  readonly snapshots: readonly SnapshotRecord[];
  readonly manifests: readonly ManifestRecord[];
  /** Schemas of the snapshots; the last one is the current one. */
  readonly schemas: readonly SchemaRecord[];
}

export interface SnapshotRecord {
  /** Version that added it; also its id and its sequence number. */
  readonly version: number;
  readonly timestampMs: number;
  readonly schemaId: number;
  readonly isFirst: boolean;
  readonly fileCount: number;
  readonly rowCount: number;
  readonly sizeBytes: number;
  readonly firstRowId: number;
  readonly addedRowCount: number;
}

/** A manifest: the files of one month. */
export interface ManifestRecord {
  readonly id: string;
  /** Month of the first row of each file, such as `202611`. */
  readonly month: string;
  readonly filesDigest: string;
  readonly fileCount: number;
  readonly rowCount: number;
  readonly firstRowId: number;
  /** Total size of the files. */
  readonly filesBytes: number;
  /** Size of the manifest. */
  readonly sizeBytes: Readonly<Record<Tree, number>>;
  /** The snapshots from `added` up to but excluding `removed` list it. */
  readonly added: number;
  readonly removed?: number;
}

export interface SchemaRecord {
  readonly id: number;
  readonly fields: Readonly<Record<Tree, readonly object[]>>;
}

/** Returns `undefined` if no snapshot is readable at `root`. @param text as stored */
export function historyOf(text: string | undefined, root: string): PublishedHistory | undefined {
  if (text === undefined || text === '') return undefined;
  const history = JSON.parse(text) as PublishedHistory; // written by `TablePublisher`
  return history.format === 1 && history.root === root ? history : undefined;
}

export const isListed = (manifest: ManifestRecord, version: number): boolean =>
  manifest.added <= version && (manifest.removed === undefined || version < manifest.removed);

/**
 * Whether `withoutExpired` would remove a snapshot, which needs a new metadata file. Otherwise, replaced metadata files
 * wait for the next version: a version for each of them would cause another one when it expires, forever.
 */
export function hasExpired(
  { snapshots }: PublishedHistory,
  nowMs: number,
  keepMs: number,
): boolean {
  return snapshots.some((_, index) => isExpired(snapshots, index, nowMs - keepMs));
}

/**
 * Removes snapshots and metadata files that were replaced more than `keepMs` ago, and manifests and schemas that only they
 * use.
 */
export function withoutExpired(
  history: PublishedHistory,
  nowMs: number,
  keepMs: number,
): PublishedHistory {
  const sinceMs = nowMs - keepMs;
  const snapshots = history.snapshots.filter(
    (_, index) => !isExpired(history.snapshots, index, sinceMs),
  );
  const metadata = history.metadata.filter(
    (_, index) => !isExpired(history.metadata, index, sinceMs),
  );
  const current = history.schemas.at(-1);
  return {
    ...history,
    metadata,
    snapshots,
    manifests: history.manifests.filter((manifest) =>
      snapshots.some(({ version }) => isListed(manifest, version)),
    ),
    schemas: history.schemas.filter(
      (schema) => schema === current || snapshots.some(({ schemaId }) => schemaId === schema.id),
    ),
  };
}

/** An entry is replaced when the next one is added; the last one never expires. */
function isExpired(
  entries: readonly { readonly timestampMs: number }[],
  index: number,
  sinceMs: number,
): boolean {
  const next = entries[index + 1];
  return next !== undefined && next.timestampMs <= sinceMs;
}
