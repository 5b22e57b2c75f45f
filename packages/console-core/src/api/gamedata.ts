import type { Fault } from '../lib/form/fault.js';
import { send, sendForJson, unlessMissing } from './client.js';
import { Problem } from './problem.js';

/** A collection with its record counts. `draft` and `changed` include unpublished changes. */
export interface Collection {
  readonly key: string;
  readonly count: number;
  readonly draft: number;
  readonly changed: number;
}

export type GameRecord = Readonly<Record<string, unknown>> & { readonly id: string };

export interface LoadedRecord {
  readonly record: GameRecord;
  readonly etag: string;
}

export interface PatchOperation {
  readonly op: string;
  readonly path: string;
  readonly value?: unknown;
}

export interface HistoryEntry {
  readonly seq: number;
  readonly at: string;
  readonly actor: string;
  readonly op: string;
  readonly type: string | null;
  readonly id: string | null;
  readonly patch: readonly PatchOperation[];
  /** Absent for an unpublished change. */
  readonly version?: number;
  readonly discarded?: boolean;
}

export interface GameVersion {
  readonly version: number;
  readonly publishedAt: string;
  readonly message: string;
  readonly actor: string;
  readonly source: string;
  readonly counts: Readonly<Record<string, number>>;
  readonly changes: {
    readonly created: number;
    readonly updated: number;
    readonly deleted: number;
  };
}

export interface ImportReport {
  readonly dryRun: boolean;
  readonly published: boolean;
  readonly version: number;
  readonly counts: Readonly<Record<string, number>>;
  readonly changes: GameVersion['changes'];
  readonly warnings: {
    readonly total: number;
    readonly byCode: Readonly<Record<string, number>>;
    readonly sample: readonly { readonly code: string; readonly message: string }[];
  };
}

export interface SearchHit {
  readonly kind: string;
  readonly id: string;
  readonly name: string | null;
}

const EDITOR = '/api/editor';
const PAGE_SIZE = 1000;
const MAX_HISTORY = 1000;
const recordPath = (type: string, id: string): string =>
  `${EDITOR}/${type}/${encodeURIComponent(id)}`;

export const fetchCollections = async (): Promise<readonly Collection[]> =>
  (await sendForJson<{ types: Collection[] }>(`${EDITOR}/types`)).types;

/** Fetches all records of the draft of a collection. */
export async function fetchRecords(type: string): Promise<readonly GameRecord[]> {
  const found: GameRecord[] = [];
  for (let isMore = true; isMore; ) {
    const query = { limit: PAGE_SIZE, offset: found.length };
    const page = await sendForJson<{ data: GameRecord[]; next: string | null }>(
      `${EDITOR}/${type}`,
      { query },
    );
    found.push(...page.data);
    isMore = page.next !== null && page.data.length > 0;
  }
  return found;
}

export async function fetchRecord(type: string, id: string): Promise<LoadedRecord> {
  const response = await send(recordPath(type, id));
  const etag = response.headers.get('etag') ?? '';
  return { record: (await response.json()) as GameRecord, etag };
}

/** Fetches the published state of a record; `undefined` for a new one. */
export const fetchPublished = (type: string, id: string): Promise<GameRecord | undefined> =>
  unlessMissing(sendForJson(recordPath(type, id), { query: { published: true } }));

/** Fetches the draft of a record; `undefined` for a deleted one. */
export const fetchDraftState = (type: string, id: string): Promise<GameRecord | undefined> =>
  unlessMissing(sendForJson(recordPath(type, id)));

/** Fetches the JSON Schemas of the records that editors send, by name such as `ItemDraft`. */
export const fetchSchemas = async (): Promise<Readonly<Record<string, unknown>>> =>
  (
    await sendForJson<{ components: { schemas: Record<string, unknown> } }>('/api/openapi.json', {
      isOpen: true,
    })
  ).components.schemas;

/** @param etag the state that was edited. The server returns 412 when it has changed since. */
export async function saveRecord(
  type: string,
  record: object,
  options: { readonly id: string; readonly etag: string } | undefined,
): Promise<GameRecord> {
  const { data } = await (options === undefined
    ? sendForJson<{ data: GameRecord }>(`${EDITOR}/${type}`, { body: record })
    : sendForJson<{ data: GameRecord }>(recordPath(type, options.id), {
        method: 'PUT',
        headers: { 'if-match': options.etag },
        body: record,
      }));
  return data;
}

/** @param replacedBy the record that replaces it in references; empty for none. */
export const deleteRecord = (
  type: string,
  id: string,
  options: { readonly etag: string; readonly replacedBy: string },
): Promise<unknown> =>
  send(recordPath(type, id), {
    method: 'DELETE',
    headers: { 'if-match': options.etag },
    query: { replacedBy: options.replacedBy || undefined },
  });

export const fetchHistory = (
  filter: { readonly type?: string; readonly id?: string } = {},
  limit = MAX_HISTORY,
): Promise<{ readonly total: number; readonly entries: readonly HistoryEntry[] }> =>
  sendForJson(`${EDITOR}/history`, { query: { ...filter, limit } });

export const validateDraft = (): Promise<{
  readonly errors: readonly Fault[];
  readonly warnings: readonly Fault[];
}> => sendForJson(`${EDITOR}/validate`);

export const publishDraft = (
  message: string,
): Promise<{ readonly version: number; readonly changed: number }> =>
  sendForJson(`${EDITOR}/save`, { body: { message } });

/** Resets records to their published state. @param type empty for all collections. */
export const discardDraft = (type: string): Promise<{ readonly discarded: number }> =>
  sendForJson(`${EDITOR}/discard${type && `/${type}`}`, { method: 'POST' });

/** Undoes or redoes the last unpublished change of this user. */
export const stepHistory = (step: 'undo' | 'redo'): Promise<{ readonly entry: HistoryEntry }> =>
  sendForJson(`${EDITOR}/${step}`, { method: 'POST' });

export const fetchVersions = async (): Promise<readonly GameVersion[]> =>
  (await sendForJson<{ versions: GameVersion[] }>(`${EDITOR}/versions`)).versions;

/** A record that differs between an older version and the current one. */
export interface ChangedRecord {
  /** The name of its collection in public paths. */
  readonly kind: string;
  readonly id: string;
  readonly isInOlder: boolean;
  readonly isInCurrent: boolean;
}

/** The server's maximum for a list. */
const MAX_CHANGES = 1000;

/** Fetches the records that differ between an older version and the current one, from up to `MAX_CHANGES` changes. */
export async function fetchChangesSince(
  version: number,
): Promise<{ readonly records: readonly ChangedRecord[]; readonly isCut: boolean }> {
  const call = { query: { since: version, limit: MAX_CHANGES }, isOpen: true };
  const { total, changes } = await sendForJson<{
    readonly total: number;
    readonly changes: readonly {
      readonly kind: string;
      readonly id: string;
      readonly op: string;
    }[];
  }>('/api/changes', call);
  const found = new Map<string, ChangedRecord>();
  for (const { kind, id, op } of changes) {
    const key = `${kind} ${id}`;
    const isInOlder = found.get(key)?.isInOlder ?? !op.startsWith('create');
    found.set(key, { kind, id, isInOlder, isInCurrent: !op.startsWith('delete') });
  }
  const records = [...found.values()].filter((each) => each.isInOlder || each.isInCurrent);
  return { records, isCut: total > changes.length };
}

/** Fetches a record as published in a version, or in the current one. */
export const fetchInVersion = (
  { kind, id }: Pick<ChangedRecord, 'kind' | 'id'>,
  version: number | undefined,
): Promise<GameRecord> =>
  sendForJson(`/api/${kind}/${encodeURIComponent(id)}`, {
    query: { version, lang: 'all' },
    isOpen: true,
  });

/** Publishes an older version again, as a new version. */
export const restoreVersion = (version: number): Promise<{ readonly version: number }> =>
  sendForJson(`${EDITOR}/versions/${version}/restore`, { method: 'POST' });

export const importData = (
  text: string,
  options: {
    readonly format: string;
    readonly mode: string;
    readonly dryRun: boolean;
    readonly publish: boolean;
  },
): Promise<ImportReport> =>
  sendForJson(`${EDITOR}/import`, {
    ...{ method: 'POST', query: options, body: text },
    headers: { 'content-type': 'application/json' },
  });

export const exportData = async (isDraft: boolean): Promise<Blob> =>
  await (await send(`${EDITOR}/export`, { query: { drafts: isDraft } })).blob();

/** Searches the text of published records in all collections. */
export async function searchRecords(text: string): Promise<readonly SearchHit[]> {
  const query = { q: text, limit: 20 };
  const call = { query, isOpen: true };
  const { results } = await sendForJson<{ results: SearchHit[] }>('/api/search', call);
  // One collection has another name in public paths.
  return results.map((hit) =>
    hit.kind === 'item-presets' ? { ...hit, kind: 'itemPresets' } : hit,
  );
}

/** Returns the faults in an error response of the editor. */
export function faultsOf(error: unknown): readonly Fault[] {
  if (!(error instanceof Problem)) return [];
  try {
    const { details } = JSON.parse(error.body) as { details?: readonly Fault[] };
    return details ?? [];
  } catch {
    return [];
  }
}
