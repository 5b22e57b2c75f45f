import { EditDistance } from '../text/edit-distance.js';

/** The maximum number of edits between a name and its suggestion; short names allow fewer. */
const MAX_EDITS = 3;
const LETTERS_PER_EDIT = 5;

/**
 * Returns the known name closest to `name`: the name with the fewest edits, or the only name that ends in the part
 * after the prefix (`PLINTH_DEFAULT_RETENTION` without its section).
 */
export function nearestName(
  name: string,
  known: readonly string[],
  prefix: string,
): string | undefined {
  const own = name.slice(prefix.length);
  const limit = Math.min(MAX_EDITS, Math.floor(own.length / LETTERS_PER_EDIT));
  const distance = new EditDistance(name, limit);
  let nearest: string | undefined;
  let least = limit + 1;
  for (const candidate of known) {
    const edits = distance.to(candidate);
    if (edits >= least) continue;
    least = edits;
    nearest = candidate;
  }
  if (nearest !== undefined || own === '') return nearest;
  const separator = /[._-]$/.exec(prefix)?.[0] ?? '.';
  const longer = known.filter(
    (candidate) => candidate.startsWith(prefix) && candidate.endsWith(`${separator}${own}`),
  );
  return longer.length === 1 ? longer[0] : undefined;
}
