/** Upper bound for the cost of a regular expression. */
export interface RegexEffort {
  /** Cost of compiling it: characters, with repetitions expanded. */
  readonly size: number;
  /**
   * Steps per input character: the size of all parts in repetitions, which can be active at the
   * same time.
   */
  readonly stepsPerCharacter: number;
}

/** A Unicode class (`\pL`) is a table of hundreds of ranges. */
const UNICODE_CLASS_SIZE = 100;
const TOKEN =
  /\\[pP](?:\{[^}]*\}?|.)|\\[\s\S]|\[\^?\]?(?:\\[pP]\{[^}]*\}|\\[\s\S]|\[:\w*:\]|[^\]\\])*\]?|[()|]|[*+?]|\{(\d+)(?:,(\d*))?\}|[\s\S]/g;

/**
 * Above this count, all parts of an exact repetition count as active at the same time, because matching starts at each
 * character.
 */
const MAX_FEW = 64;

/** Computes an upper bound from the source, before the expression is compiled. */
export function regexEffort(source: string): RegexEffort {
  const groups: Group[] = [newGroup()];
  for (const [token, least, most] of source.matchAll(TOKEN)) {
    const group = groups.at(-1) as Group; // the first group is never removed
    if (token === '(') {
      groups.push(newGroup());
    } else if (token === ')') {
      if (groups.length === 1) continue; // invalid expression
      groups.pop();
      add(groups.at(-1) as Group, closed(group));
    } else if (token === '|') {
      group.last = NOTHING;
    } else if (token === '*' || token === '+' || token === '?') {
      repeat(group, 1, true);
    } else if (least !== undefined) {
      const isExact = most === undefined || most === least;
      const count = Math.max(Number(least), Number(most ?? 0), 1);
      repeat(group, count, !isExact || count > MAX_FEW);
    } else {
      add(group, { size: sizeOf(token), live: 0 });
    }
  }
  const whole = groups.map(closed);
  return {
    size: whole.reduce((sum, { size }) => sum + size, 0),
    stepsPerCharacter: 1 + whole.reduce((sum, { live }) => sum + live, 0),
  };
}

interface Part {
  readonly size: number;
  /** Size of the parts that can be active at the same time. */
  readonly live: number;
}

interface Group {
  size: number;
  live: number;
  last: Part;
}

const NOTHING: Part = { size: 0, live: 0 };
const newGroup = (): Group => ({ size: 0, live: 0, last: NOTHING });

function add(group: Group, part: Part): void {
  group.size += part.size;
  group.live += part.live;
  group.last = part;
}

function repeat(group: Group, count: number, isOpen: boolean): void {
  const { size, live } = group.last;
  const repeated = { size: size * count, live: isOpen ? size * count : live * count };
  group.size += repeated.size - size;
  group.live += repeated.live - live;
  group.last = repeated;
}

/** Closes a group. Alternatives share one step. Within a repetition, the size of the complete group counts. */
const closed = ({ size, live }: Group): Part => ({ size: size + 1, live });

function sizeOf(token: string): number {
  return 1 + UNICODE_CLASS_SIZE * (token.match(/\\[pP]/g)?.length ?? 0);
}
