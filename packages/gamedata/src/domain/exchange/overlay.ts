import { applyPatch, diffJson, type PatchOperation } from '../../model/json-patch.js';
import { KIND_WIRE, KINDS, type Kind } from '../../model/kinds.js';
import type { EditionStore } from '../../storage/edition-store.js';
import type { DataSet } from '../data/data-set.js';
import { groupRows, type RowGroup } from '../data/kind-table.js';
import { makeRow, parseRow } from '../data/record-rows.js';
import type { ImportWarning } from './payload.js';

export interface Overlay {
  readonly kind: Kind;
  readonly id: string;
  /** RFC 6902 patch as JSON. */
  readonly patch: string;
}

/** Applies the edits since the last import to a new import. */
export async function overlayEdits(
  set: DataSet,
  from: { readonly before: DataSet; readonly editions: EditionStore; readonly seq: number },
): Promise<{
  readonly set: DataSet;
  readonly warnings: readonly ImportWarning[];
  readonly overlays: readonly Overlay[];
}> {
  const { before, editions, seq } = from;
  const known = new Map(
    (await editions.overlays()).map((entry) => [`${entry.kind}/${entry.id}`, entry]),
  );
  const warnings: ImportWarning[] = [];
  const overlays: Overlay[] = [];
  const { edited, created } = await handEdits(before, editions, known);
  const groups: Partial<Record<Kind, readonly RowGroup[]>> = {};
  for (const kind of KINDS) {
    let hasChanged = false;
    const rows = set.tables[kind].rows.map((row) => {
      const patch = edited.get(`${kind}/${row.id}`);
      if (patch === undefined) return row;
      const record = parseRow(kind, row);
      const path = `/${KIND_WIRE[kind].typeKey}/${row.id}`;
      const target = structuredClone(record);
      if (!applyPatch(target, patch)) {
        warnings.push({
          code: 'overlay_conflict',
          path,
          message: 'the edit no longer applies to the record',
        });
        return row;
      }
      if (diffJson(record, target).length === 0) {
        warnings.push({
          code: 'overlay_obsolete',
          path,
          message: 'the import already contains this edit',
        });
        return row;
      }
      overlays.push({ kind, id: row.id, patch: JSON.stringify(patch) });
      hasChanged = true;
      return makeRow(kind, target, seq);
    });
    if (hasChanged) groups[kind] = groupRows(rows);
  }
  const lose = (key: string, message: string): void => {
    const { kind, id } = placeOf(key);
    if (before.row(kind, id) === undefined || set.row(kind, id) !== undefined) return;
    const path = `/${KIND_WIRE[kind].typeKey}/${id}`;
    warnings.push({ code: 'overlay_conflict', path, message });
  };
  for (const key of edited.keys())
    lose(key, 'the import does not contain this record; its edit is dropped');
  for (const key of created) lose(key, 'the import does not contain this manually created record');
  return { set: set.with(groups), warnings, overlays };
}

interface HandEdits {
  /**
   * Patches by kind and id: patches kept from earlier imports, and patches from the history since the last import.
   */
  readonly edited: ReadonlyMap<string, readonly PatchOperation[]>;
  readonly created: ReadonlySet<string>;
}

function placeOf(key: string): { readonly kind: Kind; readonly id: string } {
  const at = key.indexOf('/');
  return { kind: key.slice(0, at) as Kind, id: key.slice(at + 1) }; // keys contain kinds
}

async function handEdits(
  before: DataSet,
  editions: EditionStore,
  known: ReadonlyMap<string, { readonly patch: string }>,
): Promise<HandEdits> {
  const created = new Set<string>();
  const patches = new Map<string, readonly PatchOperation[]>();
  for (const [key, { patch }] of known) patches.set(key, JSON.parse(patch) as PatchOperation[]);
  const [lastImport] = (await editions.history.page({ op: 'import' }, { limit: 1, offset: 0 }))
    .entries;
  const first = new Set<string>();
  for await (const entry of editions.history.changesAfter(lastImport?.seq ?? 0)) {
    const { kind, id, before: old } = entry;
    const key = `${kind}/${id}`;
    if (kind === null || id === null || first.has(key)) continue;
    if (old === null) {
      created.add(key);
      continue;
    }
    // A manually created record counts as new, even after later changes.
    if (created.has(key)) continue;
    first.add(key);
    const now = before.row(kind, id);
    if (now === undefined) continue;
    const own = diffJson(JSON.parse(old), JSON.parse(now.text)).filter(
      ({ path }) => path !== '/updatedAt' && !path.startsWith('/source'),
    );
    const patch = [...(patches.get(key) ?? []), ...own];
    if (patch.length > 0) patches.set(key, patch);
  }
  return { edited: patches, created };
}
