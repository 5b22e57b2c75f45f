import type { Values } from './record-fields.js';

/** A member that two editors changed to different values. */
export interface MergeConflict {
  readonly name: string;
  readonly base: unknown;
  readonly theirs: unknown;
  readonly mine: unknown;
}

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** A member with different values in two states of a record; `undefined` where it is absent. */
export interface Difference {
  readonly name: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** Returns the members that differ; `undefined` for a state in which the record does not exist. */
export function differencesOf(
  before: Values | undefined,
  after: Values | undefined,
): readonly Difference[] {
  const names = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})]);
  return [...names]
    .map((name) => ({ name, before: before?.[name], after: after?.[name] }))
    .filter((each) => !isSame(each.before, each.after));
}

/**
 * Merges two changes of one record. Members that only one editor changed keep that change. `conflicts` lists the
 * others, whose values in `merged` are those of `mine`.
 */
export function mergeRecords(
  base: Values,
  theirs: Values,
  mine: Values,
): { readonly merged: Values; readonly conflicts: readonly MergeConflict[] } {
  const conflicts: MergeConflict[] = [];
  const merged: Record<string, unknown> = {};
  for (const name of new Set([...Object.keys(mine), ...Object.keys(theirs)])) {
    const isMine = !isSame(mine[name], base[name]);
    const isTheirs = !isSame(theirs[name], base[name]);
    const value = isMine ? mine[name] : theirs[name];
    if (isMine && isTheirs && !isSame(mine[name], theirs[name])) {
      conflicts.push({ name, base: base[name], theirs: theirs[name], mine: mine[name] });
    }
    if (value !== undefined) merged[name] = value;
  }
  return { merged, conflicts };
}
