import { pointerOf } from '../../model/json.js';
import { KINDS, type Kind } from '../../model/kinds.js';
import type { DataSet } from '../data/data-set.js';
import { groupRows } from '../data/kind-table.js';
import { makeRow, parseRow, type StoredRecord } from '../data/record-rows.js';
import type { Row } from '../data/row.js';
import { TimeSlices } from '../data/time-slices.js';
import { KIND_SPECS } from '../kinds/index.js';
import { isCategory } from '../kinds/items.js';
import type { Reference } from '../kinds/kind-spec.js';
import type { ImportWarning } from './payload.js';

/** Dropping a record may invalidate further references, up to this many rounds. */
const MAX_ROUNDS = 50;

/**
 * Removes dangling references: sets the member to null, drops the list entry, or drops a record
 * that requires the reference.
 * Returns a warning for every repair.
 */
export async function repairReferences(
  set: DataSet,
  placeOf: (kind: Kind, id: string) => { readonly file?: string; readonly path: string },
): Promise<{ readonly set: DataSet; readonly warnings: readonly ImportWarning[] }> {
  const warnings: ImportWarning[] = [];
  const slices = new TimeSlices();
  let current = set;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    let hasDropped = false;
    const next: Partial<Record<Kind, Row[]>> = {};
    for (const kind of KINDS) {
      const rows: Row[] = [];
      let hasChanged = false;
      for (const row of current.tables[kind].rows) {
        const repaired = repairRow(current, kind, row, ({ path, message, isWhole }) => {
          const place = placeOf(kind, row.id);
          warnings.push({
            code: isWhole ? 'dropped_record' : 'dangling_reference',
            ...(place.file !== undefined && { file: place.file }),
            path: `${place.path}${pointerOf(path)}`,
            message: isWhole ? `${message}; record ${row.id} is dropped` : message,
          });
        });
        if (repaired !== row) hasChanged = true;
        if (repaired === undefined) hasDropped = true;
        else rows.push(repaired);
        const pause = slices.next();
        if (pause !== undefined) await pause;
      }
      if (hasChanged) next[kind] = rows;
    }
    const groups = Object.entries(next).map(([kind, rows]) => [kind, groupRows(rows)]);
    if (groups.length > 0) current = current.with(Object.fromEntries(groups));
    if (!hasDropped) break;
  }
  return { set: current, warnings };
}

interface Finding {
  readonly path: readonly (string | number)[];
  readonly message: string;
  /** Whether the record requires the reference. */
  readonly isWhole: boolean;
}

/** Returns the same row if nothing is wrong; `undefined` if the record has to be dropped. */
function repairRow(
  set: DataSet,
  kind: Kind,
  row: Row,
  report: (finding: Finding) => void,
): Row | undefined {
  const spec = KIND_SPECS[kind];
  const record = parseRow(kind, row);
  const dangling = spec
    .references(record)
    .filter((reference) => set.row(reference.kind, reference.id) === undefined);
  const about = ({ path, kind: target, id }: Reference, isWhole: boolean): Finding => ({
    path,
    message: `record ${id} not found in ${target}`,
    isWhole,
  });
  const whole = dangling.find(({ repair, dropDepth }) => repair === 'drop' && dropDepth === 0);
  if (whole !== undefined) {
    report(about(whole, true));
    return undefined;
  }
  const otherFindings = repairOtherReferences(set, record);
  if (dangling.length === 0 && otherFindings.length === 0) return row;
  for (const finding of otherFindings) report(finding);
  for (const reference of dangling) report(about(reference, false));
  for (const { path, repair } of dangling) if (repair === 'null') setAt(record, path, null);
  // In reverse order, so that earlier positions stay valid.
  const drops = dangling
    .filter(({ repair }) => repair === 'drop')
    .map(({ path, dropDepth }) => path.slice(0, dropDepth ?? path.length));
  const seen = new Set<string>();
  for (const path of drops.reverse()) {
    const key = path.join('/');
    if (!seen.has(key)) removeAt(record, path);
    seen.add(key);
  }
  if ('conditions' in record) dropEmptyGroups(record);
  return makeRow(kind, record as StoredRecord, row.rev);
}

/** Repairs references that are not ids: the location of a quest, the category of an item. */
function repairOtherReferences(set: DataSet, record: StoredRecord): readonly Finding[] {
  if ('conditions' in record) {
    const { location } = record.conditions;
    if (location === 'any' || set.tables.maps.bySlug(location) !== undefined) return [];
    record.conditions.location = 'any';
    const message = `unknown map slug "${location}"`;
    return [{ path: ['conditions', 'location'], message, isWhole: false }];
  }
  if ('handbook' in record) {
    const { parent } = record.handbook;
    if (parent === null || isCategory(parent)) return [];
    record.handbook.parent = null;
    const message = `unknown category ${parent}`;
    return [{ path: ['handbook', 'parent'], message, isWhole: false }];
  }
  return [];
}

/** Removes a group without remaining quests. */
function dropEmptyGroups(record: { conditions: { quests: string[][] } }): void {
  record.conditions.quests = record.conditions.quests.filter((group) => group.length > 0);
}

function parentOf(record: unknown, path: readonly (string | number)[]): unknown {
  return path
    .slice(0, -1)
    .reduce<unknown>((value, part) => Reflect.get(Object(value), part), record);
}

function setAt(record: unknown, path: readonly (string | number)[], value: unknown): void {
  Reflect.set(Object(parentOf(record, path)), path.at(-1) ?? '', value);
}

function removeAt(record: unknown, path: readonly (string | number)[]): void {
  const list = parentOf(record, path);
  const index = path.at(-1);
  if (Array.isArray(list) && typeof index === 'number') list.splice(index, 1);
}
