import { pointerOf } from '../../model/json.js';
import { KIND_WIRE, KINDS, type Kind } from '../../model/kinds.js';
import { KIND_SPECS } from '../kinds/index.js';
import type { Fault } from '../kinds/kind-spec.js';
import type { DataSet } from './data-set.js';
import { defaultOrderOf } from './default-order.js';
import { parseRow } from './record-rows.js';
import { listColumn, numberColumn, type Row } from './row.js';
import { TimeSlices } from './time-slices.js';

/** A fault of one record of a data set. */
export interface RecordFault extends Fault {
  readonly type: string;
  readonly id: string;
}

const MAX_FAULTS = 1000;
/** With more targets, scanning every record is faster. */
const MAX_TARGETS = 40;

export interface ValidationScope {
  /** Kinds to check; default: all. */
  readonly kinds?: readonly Kind[];
  /** A valid set; only differences from it are checked. */
  readonly since?: DataSet;
}

/** Checks rules R1 to R15 between the records of a set. Source: gamedata, section 3.10. */
export async function validateSet(
  set: DataSet,
  scope: ValidationScope = {},
): Promise<readonly RecordFault[]> {
  const faults: RecordFault[] = [];
  const slices = new TimeSlices();
  for (const kind of scope.kinds ?? KINDS) {
    const { rows, isAffected } = affectedRows(set, kind, scope.since);
    for (const row of rows) {
      const pause = slices.next();
      if (pause !== undefined) await pause;
      if (!isAffected(row)) continue;
      faults.push(...checkRow(set, kind, row));
      if (faults.length >= MAX_FAULTS) return faults;
    }
    if (scope.since?.tables[kind] !== set.tables[kind]) {
      faults.push(...checkKind(set, kind, scope.since));
    }
  }
  return faults;
}

/**
 * Returns rows that may have become invalid: changed rows, and rows that refer to a changed or
 * removed record.
 */
function affectedRows(
  set: DataSet,
  kind: Kind,
  since: DataSet | undefined,
): { readonly rows: Iterable<Row>; readonly isAffected: (row: Row) => boolean } {
  const table = set.tables[kind];
  const targets = since === undefined ? undefined : changedTargets(set, since);
  if (since === undefined || targets === undefined) {
    return { rows: table.rows, isAffected: () => true };
  }
  const before = since.tables[kind];
  return {
    rows: targets.length === 0 ? table.rowsBeyond(before) : table.rows,
    isAffected: (row) =>
      before.get(row.id) !== row || targets.some((target) => row.mentions(target)),
  };
}

/**
 * Returns search strings for ids and slugs whose references may have become invalid; `undefined`
 * when there are too many.
 */
function changedTargets(set: DataSet, since: DataSet): readonly string[] | undefined {
  const targets: string[] = [];
  for (const kind of KINDS) {
    for (const row of since.tables[kind].rowsBeyond(set.tables[kind])) {
      const now = set.row(kind, row.id);
      if (now === row) continue;
      // References to other kinds depend only on the existence of the record.
      const isAsked = kind === 'hideout' || kind === 'maps' || kind === 'traders';
      if (now === undefined || isAsked) targets.push(`"${row.id}"`, `"${row.slug}"`);
      if (targets.length > MAX_TARGETS) return undefined;
    }
  }
  return targets;
}

function checkRow(set: DataSet, kind: Kind, row: Row): RecordFault[] {
  const spec = KIND_SPECS[kind];
  const record = parseRow(kind, row);
  const about = { type: KIND_WIRE[kind].typeKey, id: row.id };
  const dangling = spec
    .references(record)
    .filter((reference) => set.row(reference.kind, reference.id) === undefined)
    .map((reference) => ({
      ...about,
      path: pointerOf(reference.path),
      code: 'dangling_reference',
      message: `record ${reference.id} not found in ${reference.kind}`,
    }));
  const languages = Object.keys(record.locales)
    .filter((language) => !set.metadata.languages.includes(language))
    .map((language) => ({
      ...about,
      path: pointerOf(['locales', language]),
      code: 'unknown_language',
      message: `unknown language ${language}`,
    }));
  return [
    ...dangling,
    ...languages,
    ...spec.check(record, set).map((fault) => ({ ...about, ...fault })),
  ];
}

/** Checks the rules that concern all records of a kind. */
function checkKind(set: DataSet, kind: Kind, since: DataSet | undefined): RecordFault[] {
  const { rows } = set.tables[kind];
  const type = KIND_WIRE[kind].typeKey;
  const hasKnownIds = set.tables[kind].hasPlacesOf(since?.tables[kind]);
  const faults = hasKnownIds ? [] : duplicates(rows, type);
  if (kind === 'levels') faults.push(...checkLevels(set, type));
  const ring = findCycle(NEEDS[kind]?.(rows) ?? new Map());
  if (ring !== undefined) {
    const id = ring[0]?.split(' ', 1)[0] ?? '';
    const message = `circular requirement: ${ring.join(' > ')}`;
    faults.push({ type, id, path: '', code: 'cycle', message });
  }
  return faults;
}

/** Rule R14: ids and slugs are unique. */
function duplicates(rows: readonly Row[], type: string): RecordFault[] {
  const faults: RecordFault[] = [];
  for (const member of ['id', 'slug'] as const) {
    const seen = new Set<string>();
    for (const row of rows) {
      if (!seen.has(row[member])) {
        seen.add(row[member]);
        continue;
      }
      const message = `duplicate ${member} ${row[member]}`;
      faults.push({ type, id: row.id, path: `/${member}`, code: `duplicate_${member}`, message });
    }
  }
  return faults;
}

/** Rule R11: levels are complete, and their experience values consistent. */
function checkLevels(set: DataSet, type: string): RecordFault[] {
  const faults: RecordFault[] = [];
  const { rows } = set.tables.levels;
  const order = defaultOrderOf(set, 'levels');
  for (const [index, position] of order.entries()) {
    const row = rows[position];
    if (row === undefined) continue;
    const level = numberColumn(row, 'level');
    const exp = numberColumn(row, 'exp') ?? 0;
    const toNext = numberColumn(row, 'expToNextLevel') ?? 0;
    const add = (path: string, code: string, message: string) =>
      faults.push({ type, id: row.id, path, code, message });
    if (level !== index + 1) add('/level', 'level_gap', `level ${index + 1} is missing`);
    if (index === 0 && exp !== 0) add('/exp', 'wrong_exp', 'exp of level 1 must be 0');
    const next = rows[order[index + 1] ?? -1];
    const expected = next === undefined ? 0 : (numberColumn(next, 'exp') ?? 0) - exp;
    if (next !== undefined && expected <= 0) {
      add('/exp', 'wrong_exp', 'exp must increase with each level');
    }
    if (toNext !== expected) {
      add(
        '/expToNextLevel',
        'wrong_exp',
        `the next level requires ${expected} more exp, not ${toNext}`,
      );
    }
  }
  return faults;
}

/** Requirements by record, or by level of a record. */
type Needs = ReadonlyMap<string, readonly string[]>;

/** Quests, hideout modules and storyline chapters must not require each other in a cycle (rules R5 and R8). */
const NEEDS: Readonly<Partial<Record<Kind, (rows: readonly Row[]) => Needs>>> = {
  quests: (rows) => new Map(rows.map((row) => [row.id, listColumn(row, 'prerequisites')])),
  storyline: (rows) => new Map(rows.map((row) => [row.id, listColumn(row, 'requires')])),
  // Two modules may require each other at different levels; each level also requires the one below
  // it.
  hideout: (rows) =>
    new Map(
      rows.flatMap((row) =>
        listColumn<{ level: number; modules: readonly { id: string; level: number }[] }>(
          row,
          'needs',
        ).map(({ level, modules }): [string, string[]] => [
          `${row.id} level ${level}`,
          [
            ...modules.map((module) => `${module.id} level ${module.level}`),
            ...(level > 1 ? [`${row.id} level ${level - 1}`] : []),
          ],
        ]),
      ),
    ),
};

/** Returns the names along a cycle, or `undefined`. Iterative, because chains can be long. */
function findCycle(needs: Needs): readonly string[] | undefined {
  const done = new Set<string>();
  for (const start of needs.keys()) {
    if (done.has(start)) continue;
    const path: { readonly name: string; readonly open: string[] }[] = [];
    const onPath = new Set<string>();
    const enter = (name: string): void => {
      path.push({ name, open: [...(needs.get(name) ?? [])] });
      onPath.add(name);
    };
    enter(start);
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      const next = top.open.pop();
      if (next === undefined) {
        done.add(top.name);
        onPath.delete(top.name);
        path.pop();
      } else if (onPath.has(next)) {
        const names = path.map(({ name }) => name);
        return [...names.slice(names.indexOf(next)), next];
      } else if (!done.has(next)) enter(next);
    }
  }
  return undefined;
}
