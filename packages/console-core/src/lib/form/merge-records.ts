import type { Values } from './record-fields.js';

/** A member that two editors changed to different values. */
export interface MergeConflict {
  readonly name: string;
  readonly base: unknown;
  readonly theirs: unknown;
  readonly mine: unknown;
}

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

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
