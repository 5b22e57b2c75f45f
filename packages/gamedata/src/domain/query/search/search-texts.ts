import type { Kind } from '../../../model/kinds.js';
import type { DataSet } from '../../data/data-set.js';
import type { TimeSlices } from '../../data/time-slices.js';
import type { GroupTexts } from './group-texts.js';
import type { TextIndex } from './text-index.js';

/** Data set, index and time slices of one query. */
export interface TextScope {
  readonly set: DataSet;
  readonly index: TextIndex;
  readonly slices: TimeSlices;
}

/** Returns the line of the packed names that contains a field, if any. */
export function nameLineOf(kind: Kind, field: string): 0 | 1 | undefined {
  // The name of a level without a title is its number.
  if (kind === 'levels') return undefined;
  if (field === 'name' || (field === 'title' && kind === 'quests')) return 0;
  return field === 'shortName' && kind === 'items' ? 1 : undefined;
}

/** Calls `see` with one normalized name of every row, in stored order; yields between groups. */
export async function visitNames(
  scope: TextScope,
  see: (name: string, position: number) => void,
  line: 0 | 1 = 0,
): Promise<void> {
  await visitGroups(scope, ({ names }, first) =>
    names.visitLines(line, (name, place) => see(name, first + place)),
  );
}

/** Calls `see` for every row with `part` in one of its names. */
export async function findInNames(
  scope: TextScope,
  part: string,
  see: (position: number) => void,
): Promise<void> {
  const bytes = Buffer.from(part);
  await visitGroups(scope, ({ names }, first) => names.find(bytes, (place) => see(first + place)));
}

/** Like `findInNames` for all strings of a record; `see` may be called twice for a row. */
export async function findInTexts(
  scope: TextScope,
  part: string,
  see: (position: number) => void,
): Promise<void> {
  const bytes = Buffer.from(part);
  await visitGroups(scope, ({ names, rest }, first) => {
    names.find(bytes, (place) => see(first + place));
    rest.find(bytes, (place) => see(first + place));
  });
}

async function visitGroups(
  { set, index, slices }: TextScope,
  visit: (texts: GroupTexts, firstPosition: number) => void,
): Promise<void> {
  const groups = await index.textsOf(set);
  let first = 0;
  for (const texts of groups) {
    visit(texts, first);
    first += texts.names.count;
    const pause = slices.check();
    if (pause !== undefined) await pause;
  }
}
