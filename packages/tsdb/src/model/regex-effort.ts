/** What a regular expression costs at most. */
export interface RegexEffort {
  /** Of its compilation: characters, with repetitions written out. */
  readonly size: number;
  /**
   * Steps for each character of a text that it is tried on: how much of it stands within repetitions, all of which may go
   * on side by side.
   */
  readonly stepsPerCharacter: number;
}

/** A class of Unicode (`\pL`) is a table of hundreds of ranges. */
const UNICODE_CLASS_SIZE = 100;
const TOKEN =
  /\\[pP](?:\{[^}]*\}?|.)|\\[\s\S]|\[\^?\]?(?:\\[pP]\{[^}]*\}|\\[\s\S]|\[:\w*:\]|[^\]\\])*\]?|[()|]|[*+?]|\{(\d+)(?:,(\d*))?\}|[\s\S]/g;

/** So many of one kind in a row that all of them may go on side by side: a text is tried from each of its characters on. */
const MAX_FEW = 64;

/** A bound, from the text alone: it is known before the expression is compiled. */
export function regexEffort(source: string): RegexEffort {
  const groups: Group[] = [newGroup()];
  for (const [token, least, most] of source.matchAll(TOKEN)) {
    const group = groups.at(-1) as Group; // the first one is never taken
    if (token === '(') {
      groups.push(newGroup());
    } else if (token === ')') {
      if (groups.length === 1) continue; // no valid expression
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
  /** How much of it may go on side by side. */
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

/** Choices are looked at together once; within a repetition all of the group counts anyway. */
const closed = ({ size, live }: Group): Part => ({ size: size + 1, live });

function sizeOf(token: string): number {
  return 1 + UNICODE_CLASS_SIZE * (token.match(/\\[pP]/g)?.length ?? 0);
}
