import type { RefusedRow } from '@plinth/line-protocol';

/** Rows with the same error. */
export interface RefusedGroup {
  /** Line number and error message of the first row. */
  readonly line: number;
  readonly message: string;
  readonly count: number;
  /** The first line ranges of the other rows. */
  readonly ranges: readonly (readonly [first: number, last: number])[];
}

const MAX_GROUP_COUNT = 20;
const MAX_RANGE_COUNT = 10;

/** Groups rejected rows by error. Keeps the first `MAX_GROUP_COUNT` groups. */
export class RefusedGroups {
  readonly #groups = new Map<string, { count: number; ranges: [number, number][] } & RefusedRow>();

  add({ line, message, kind = message }: RefusedRow): void {
    const group = this.#groups.get(kind);
    if (group === undefined) {
      if (this.#groups.size < MAX_GROUP_COUNT)
        this.#groups.set(kind, { line, message, count: 1, ranges: [] });
      return;
    }
    group.count += 1;
    const last = group.ranges.at(-1);
    if (last?.[1] === line - 1) last[1] = line;
    else if (group.ranges.length < MAX_RANGE_COUNT) group.ranges.push([line, line]);
  }

  get list(): readonly RefusedGroup[] {
    return [...this.#groups.values()].sort((a, b) => a.line - b.line);
  }
}

/** Formats a group as `line 2: …; the same error in lines 3, 5–9 and 12 more`. */
export function refusedText({ line, message, count, ranges }: RefusedGroup): string {
  const others = count - 1;
  if (others === 0) return `line ${line}: ${message}`;
  const shown = ranges.reduce((sum, [first, last]) => sum + last - first + 1, 0);
  const lines = ranges.map(([first, last]) => (first === last ? `${first}` : `${first}–${last}`));
  const more = others > shown ? ` and ${others - shown} more` : '';
  return `line ${line}: ${message}; the same error in line${others === 1 ? '' : 's'} ${lines.join(', ')}${more}`;
}
