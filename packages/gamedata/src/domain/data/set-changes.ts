import type { ChangeCounts, RecordChange } from '../../model/edition.js';
import { KINDS, type Kind } from '../../model/kinds.js';
import { DataSet } from './data-set.js';
import { GROUP_SIZE, type RowGroup } from './kind-table.js';
import type { Row } from './row.js';
import { TimeSlices } from './time-slices.js';

/**
 * Returns the changes between two sets, ordered by kind and record. Yields to the event loop,
 * because text may have to be read from disk.
 */
export async function diffSets(from: DataSet, to: DataSet): Promise<readonly RecordChange[]> {
  const changes: RecordChange[] = [];
  const slices = new TimeSlices();
  for (const kind of KINDS) {
    const before = from.tables[kind];
    const after = to.tables[kind];
    if (before === after) continue;
    for (const row of after.rowsBeyond(before)) {
      const old = before.get(row.id);
      if (old === undefined) changes.push({ kind, id: row.id, op: 'created' });
      else if (old !== row && old.text !== row.text) {
        changes.push({ kind, id: row.id, op: 'updated' });
      }
      const pause = slices.next();
      if (pause !== undefined) await pause;
    }
    const aliases = to.metadata.aliases[kind] ?? {};
    for (const { id } of before.rowsBeyond(after)) {
      if (after.get(id) !== undefined) continue;
      const replacedBy = Object.hasOwn(aliases, id) ? aliases[id] : undefined;
      changes.push({ kind, id, op: 'deleted', ...(replacedBy !== undefined && { replacedBy }) });
    }
  }
  return changes;
}

export function countChanges(changes: readonly RecordChange[]): ChangeCounts {
  const counts = { created: 0, updated: 0, deleted: 0 };
  for (const { op } of changes) counts[op] += 1;
  return counts;
}

/**
 * Returns the set with one record added, replaced or removed. All other groups are shared.
 * @param base gives the position of a record that is added again.
 */
export function withRow(
  set: DataSet,
  kind: Kind,
  id: string,
  row: Row | undefined,
  base?: DataSet,
): DataSet {
  const { groups } = set.tables[kind];
  const at = groups.findIndex(({ rows }) => rows.some((other) => other.id === id));
  const next = [...groups];
  if (at !== -1) {
    const rows = (groups[at]?.rows ?? []).flatMap((other) =>
      other.id !== id ? [other] : row === undefined ? [] : [row],
    );
    if (rows.length === 0) next.splice(at, 1);
    else next[at] = { rows };
  } else if (row !== undefined) {
    const place = base && placeIn(base, set, kind, id);
    if (place === undefined) {
      const last = groups.at(-1);
      if (last !== undefined && last.rows.length < GROUP_SIZE) {
        next[groups.length - 1] = { rows: [...last.rows, row] };
      } else next.push({ rows: [row] });
    } else {
      const { rows } = groups[place.group] ?? { rows: [] };
      const before = rows.slice(0, place.index);
      const after = rows.slice(place.index);
      const isFull = rows.length >= GROUP_SIZE;
      const parts = isFull ? [before, [row, ...after]] : [[...before, row, ...after]];
      const filled = parts.filter((part) => part.length > 0).flatMap(cut);
      next.splice(place.group, 1, ...filled);
    }
  }
  return set.with({ [kind]: next });
}

const cut = (rows: readonly Row[]): readonly RowGroup[] =>
  rows.length <= GROUP_SIZE
    ? [{ rows }]
    : [{ rows: rows.slice(0, GROUP_SIZE) }, { rows: rows.slice(GROUP_SIZE) }];

/**
 * Returns the position of a record in `base`, relative to its next neighbor that is still in `set`.
 */
function placeIn(
  base: DataSet,
  set: DataSet,
  kind: Kind,
  id: string,
): { readonly group: number; readonly index: number } | undefined {
  const { rows } = base.tables[kind];
  const at = base.tables[kind].indexOf(id);
  if (at === -1) return undefined;
  for (let next = at + 1; next < rows.length; next++) {
    const neighbour = set.row(kind, rows[next]?.id ?? '');
    if (neighbour === undefined) continue;
    for (const [group, { rows: others }] of set.tables[kind].groups.entries()) {
      const index = others.indexOf(neighbour);
      if (index !== -1) return { group, index };
    }
  }
  return undefined;
}

/** Returns the set with a changed or removed replacement for a removed id. */
export function withAlias(
  set: DataSet,
  kind: Kind,
  id: string,
  replacedBy: string | undefined,
): DataSet {
  const own = set.metadata.aliases[kind] ?? {};
  if (replacedBy === undefined && !Object.hasOwn(own, id)) return set;
  const { [id]: _old, ...rest } = own;
  const aliases = {
    ...set.metadata.aliases,
    [kind]: replacedBy === undefined ? rest : { ...rest, [id]: replacedBy },
  };
  return new DataSet({ ...set.metadata, aliases }, set.tables, set);
}

/** Returns the first set with some kinds taken from the second one. */
export function takeKinds(into: DataSet, from: DataSet, kinds: readonly Kind[]): DataSet {
  const groups: Partial<Record<Kind, readonly RowGroup[]>> = {};
  const aliases = { ...into.metadata.aliases };
  for (const kind of kinds) {
    if (into.tables[kind] !== from.tables[kind]) groups[kind] = from.tables[kind].groups;
    const own = from.metadata.aliases[kind];
    if (own === undefined) delete aliases[kind];
    else aliases[kind] = own;
  }
  const isWhole = KINDS.every((kind) => kinds.includes(kind));
  return into.with(groups, { ...(isWhole ? from.metadata : into.metadata), aliases });
}
