import { createHash } from 'node:crypto';
import type { EventLoopYielder } from '@plinth/kernel';
import type { Column } from '@plinth/tsdb-model/columns/column.js';
import type { Segment } from '@plinth/tsdb-model/segment.js';
import { type PublishedColumns, publishedColumns, type Tree } from '../iceberg/table-schema.js';
import { groupByMonth, type MonthFiles } from './files-digest.js';
import {
  hasExpired,
  isListed,
  type ManifestRecord,
  type PublishedHistory,
  withoutExpired,
} from './history.js';

export type ColumnsByTree = Readonly<Record<Tree, PublishedColumns>>;

export const columnsByTree = (columns: Iterable<Column>): ColumnsByTree => {
  const all = [...columns];
  return { plain: publishedColumns(all, 'plain'), jvm: publishedColumns(all, 'jvm') };
};

/** A manifest to be written. */
export interface NewManifest extends MonthFiles {
  readonly id: string;
  readonly firstRowId: number;
}

/** The next version of a published table, before its manifests are written. */
export interface NextVersion {
  readonly version: number;
  readonly filesDigest: string;
  readonly columns: ColumnsByTree;
  readonly newManifests: readonly NewManifest[];
  /** Whether the list of files changes; otherwise, only the schema changes or snapshots expire. */
  readonly isSnapshot: boolean;
  /** History with all manifests except the new ones. */
  readonly base: PublishedHistory;
}

/** Returns `undefined` if nothing has changed and no snapshot has expired. */
export async function nextVersion(options: {
  readonly files: readonly Segment[];
  readonly columns: Iterable<Column>;
  readonly root: string;
  readonly previous: { readonly version: number; readonly filesDigest: string } | undefined;
  /** `undefined` if everything must be written. */
  readonly history: PublishedHistory | undefined;
  readonly nowMs: number;
  readonly keepMs: number;
  readonly freshThrough: string;
  readonly mergedThrough: string;
  readonly yielder: EventLoopYielder;
}): Promise<NextVersion | undefined> {
  const { root, previous, history, nowMs, keepMs } = options;
  const columns = columnsByTree(options.columns);
  const months = await groupByMonth(options.files, options.yielder);
  const filesDigest = digestOf({ root, columns, months });
  const isSame = history !== undefined && previous?.filesDigest === filesDigest;
  if (isSame && !hasExpired(history, nowMs, keepMs)) return undefined;
  const version = (previous?.version ?? 0) + 1;
  const current =
    history === undefined ? emptyHistory(root) : withoutExpired(history, nowMs, keepMs);
  const { freshThrough, mergedThrough } = options;
  const base = withSchema({ ...current, freshThrough, mergedThrough }, columns, version);
  const known = new Map(
    base.manifests
      .filter((manifest) => isListed(manifest, version))
      .map((manifest) => [`${manifest.month} ${manifest.filesDigest}`, manifest]),
  );
  let { nextRowId } = base;
  const newManifests: NewManifest[] = [];
  for (const month of months) {
    const key = `${month.month} ${month.filesDigest}`;
    if (known.delete(key)) continue;
    newManifests.push({ ...month, id: `${version}-${month.month}`, firstRowId: nextRowId });
    nextRowId += month.rowCount;
  }
  const replaced = new Set<ManifestRecord>(known.values());
  const isSnapshot = newManifests.length > 0 || replaced.size > 0 || base.snapshots.length === 0;
  const manifests = base.manifests.map((manifest) =>
    replaced.has(manifest) ? { ...manifest, removed: version } : manifest,
  );
  return {
    ...{ version, filesDigest, columns, newManifests, isSnapshot },
    base: { ...base, manifests, nextRowId },
  };
}

/** Returns the history that is stored with the version. */
export function completeHistory(
  next: NextVersion,
  written: readonly ManifestRecord[],
  nowMs: number,
): PublishedHistory {
  const { base, version } = next;
  const latestMs = base.metadata.at(-1)?.timestampMs ?? 0;
  const timestampMs = Math.max(nowMs, latestMs + 1);
  const metadata = [...base.metadata, { version, timestampMs }];
  const manifests = [...base.manifests, ...written];
  if (!next.isSnapshot) return { ...base, metadata, manifests };
  const listed = manifests.filter((manifest) => isListed(manifest, version));
  const addedRowCount = sumOf(written, ({ rowCount }) => rowCount);
  const snapshot = {
    version,
    timestampMs,
    schemaId: base.schemas.at(-1)?.id ?? 0,
    isFirst: base.snapshots.length === 0,
    fileCount: sumOf(listed, ({ fileCount }) => fileCount),
    rowCount: sumOf(listed, ({ rowCount }) => rowCount),
    sizeBytes: sumOf(listed, ({ filesBytes }) => filesBytes),
    firstRowId: base.nextRowId - addedRowCount,
    addedRowCount,
  };
  return { ...base, metadata, manifests, snapshots: [...base.snapshots, snapshot] };
}

const emptyHistory = (root: string): PublishedHistory => ({
  format: 1,
  root,
  nextRowId: 0,
  freshThrough: '',
  mergedThrough: '',
  metadata: [],
  snapshots: [],
  manifests: [],
  schemas: [],
});

function withSchema(
  history: PublishedHistory,
  columns: ColumnsByTree,
  version: number,
): PublishedHistory {
  const fields = { plain: columns.plain.fields, jvm: columns.jvm.fields };
  const current = history.schemas.at(-1);
  if (current !== undefined && JSON.stringify(current.fields) === JSON.stringify(fields))
    return history;
  return { ...history, schemas: [...history.schemas, { id: version, fields }] };
}

function digestOf(options: {
  readonly root: string;
  readonly columns: ColumnsByTree;
  readonly months: readonly MonthFiles[];
}): string {
  const months = options.months.map(({ month, filesDigest }) => [month, filesDigest]);
  return createHash('sha256')
    .update(JSON.stringify([options.root, options.columns, months]))
    .digest('hex');
}

const sumOf = <T>(items: readonly T[], pick: (item: T) => number): number =>
  items.reduce((sum, item) => sum + pick(item), 0);
