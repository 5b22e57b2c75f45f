const MONTHS = ['january', 'february', 'march', 'april', 'may', 'june', 'july', 'august'].concat([
  'september',
  'october',
  'november',
  'december',
]);
const DAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];

const FIRST_YEAR = 1970;
const LAST_YEAR = 2100;

interface Field {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  readonly names?: readonly string[];
  /** The value of `names[0]`. */
  readonly firstName?: number;
  readonly takesQuestionMark?: boolean;
}

const FIELDS: readonly Field[] = [
  { name: 'second', min: 0, max: 59 },
  { name: 'minute', min: 0, max: 59 },
  { name: 'hour', min: 0, max: 23 },
  { name: 'day of month', min: 1, max: 31, takesQuestionMark: true },
  { name: 'month', min: 1, max: 12, names: MONTHS, firstName: 1 },
  { name: 'day of week', min: 0, max: 7, names: DAYS, firstName: 0, takesQuestionMark: true },
  { name: 'year', min: FIRST_YEAR, max: LAST_YEAR },
];

const SHORTHANDS: ReadonlyMap<string, string> = new Map([
  ['@yearly', '0 0 0 1 1 *'],
  ['@monthly', '0 0 0 1 * *'],
  ['@weekly', '0 0 0 * * 0'],
  ['@daily', '0 0 0 * * *'],
  ['@hourly', '0 0 * * * *'],
]);

const MS_PER_DAY = 86_400_000;

/**
 * A schedule in UTC with seconds first; 0 and 7 are Sunday. Day of month and day of week must both match.
 * Source: processing-engine, "Cron grammar".
 */
export class CronSchedule {
  readonly #seconds: readonly number[];
  readonly #minutes: readonly number[];
  readonly #hours: readonly number[];
  readonly #daysOfMonth: ReadonlySet<number>;
  readonly #months: ReadonlySet<number>;
  readonly #daysOfWeek: ReadonlySet<number>;
  readonly #years: ReadonlySet<number>;

  private constructor(fields: readonly ReadonlySet<number>[]) {
    const [seconds, minutes, hours, daysOfMonth, months, daysOfWeek, years] = fields;
    const ascending = (values: ReadonlySet<number> | undefined): number[] =>
      [...(values ?? [])].sort((a, b) => a - b);
    this.#seconds = ascending(seconds);
    this.#minutes = ascending(minutes);
    this.#hours = ascending(hours);
    this.#daysOfMonth = daysOfMonth ?? new Set();
    this.#months = months ?? new Set();
    this.#daysOfWeek = new Set([...(daysOfWeek ?? [])].map((day) => day % 7));
    this.#years = years ?? new Set();
  }

  /** Parses an expression. Returns `undefined` if it is not valid; `faultOf` returns the reason. */
  static parse(expression: string): CronSchedule | undefined {
    const fields = readFields(expression);
    return typeof fields === 'string' ? undefined : new CronSchedule(fields);
  }

  /** Returns an error message with the accepted values for an invalid expression; `undefined` for a valid one. */
  static faultOf(expression: string): string | undefined {
    const fields = readFields(expression);
    return typeof fields === 'string' ? fields : undefined;
  }

  /**
   * Returns the first scheduled time after `afterMs`, to the second; `undefined` when no date up to the year
   * 2100 matches.
   */
  nextMs(afterMs: number): number | undefined {
    const startMs = (Math.floor(afterMs / 1000) + 1) * 1000;
    const startDayMs = Math.floor(startMs / MS_PER_DAY) * MS_PER_DAY;
    const inDay = this.#timeOfDay((startMs - startDayMs) / 1000);
    if (inDay !== undefined && this.#isDay(startDayMs)) return startDayMs + inDay * 1000;
    const first = this.#timeOfDay(0);
    if (first === undefined) return undefined;
    const endMs = Date.UTC(LAST_YEAR + 1, 0, 1);
    for (let dayMs = startDayMs + MS_PER_DAY; dayMs < endMs; ) {
      if (this.#isDay(dayMs)) return dayMs + first * 1000;
      dayMs = this.#nextCandidate(dayMs);
    }
    return undefined;
  }

  /** Skips complete months and years without a match. */
  #nextCandidate(dayMs: number): number {
    const day = new Date(dayMs);
    const year = day.getUTCFullYear();
    if (!this.#years.has(year)) return Date.UTC(year + 1, 0, 1);
    if (!this.#months.has(day.getUTCMonth() + 1)) return Date.UTC(year, day.getUTCMonth() + 1, 1);
    return dayMs + MS_PER_DAY;
  }

  #isDay(dayMs: number): boolean {
    const day = new Date(dayMs);
    return (
      this.#years.has(day.getUTCFullYear()) &&
      this.#months.has(day.getUTCMonth() + 1) &&
      this.#daysOfMonth.has(day.getUTCDate()) &&
      this.#daysOfWeek.has(day.getUTCDay())
    );
  }

  /** Returns the first matching second of a day at or after `fromSec`. */
  #timeOfDay(fromSec: number): number | undefined {
    const fromHour = Math.floor(fromSec / 3600);
    for (const hour of this.#hours) {
      if (hour < fromHour) continue;
      const fromMinute = hour === fromHour ? Math.floor(fromSec / 60) % 60 : 0;
      for (const minute of this.#minutes) {
        if (minute < fromMinute) continue;
        const isSameMinute = hour === fromHour && minute === Math.floor(fromSec / 60) % 60;
        const second = this.#seconds.find((value) => value >= (isSameMinute ? fromSec % 60 : 0));
        if (second !== undefined) return hour * 3600 + minute * 60 + second;
      }
    }
    return undefined;
  }
}

/** @returns the values of each field, or the error message of an invalid expression. */
function readFields(expression: string): readonly ReadonlySet<number>[] | string {
  const trimmed = expression.trim();
  const texts = (SHORTHANDS.get(trimmed) ?? trimmed).split(/\s+/);
  if (trimmed.startsWith('@') && !SHORTHANDS.has(trimmed)) {
    return `unknown shorthand "${trimmed}"; use ${[...SHORTHANDS.keys()].join(', ')}`;
  }
  if (texts.length < 6 || texts.length > 7) return fieldCountFault(trimmed, texts.length);
  const fields: ReadonlySet<number>[] = [];
  for (const [index, field] of FIELDS.entries()) {
    const text = texts[index] ?? '*';
    const values = readField(text, field);
    if (values === undefined) return fieldFault(text, field);
    fields.push(values);
  }
  return fields;
}

/** Most schedulers have 5 fields that start with the minute; here the second comes first. */
function fieldCountFault(expression: string, count: number): string {
  const counted = expression === '' ? 'the expression is empty' : `"${expression}" has ${count}`;
  const remedy = count === 5 ? `; write "0 ${expression}" to start at second 0` : '';
  const names = FIELDS.slice(0, 6).map(({ name }) => name);
  return `cron expressions have 6 fields (${names.join(', ')}) or 7 (year last), but ${counted}${remedy}`;
}

function fieldFault(text: string, { name, min, max, names }: Field): string {
  const named = names === undefined ? '' : ' or a name';
  return `invalid ${name} "${text}"; use ${min} to ${max}${named}, *, ranges (1-5), lists (1,5) and steps (*/5)`;
}

function readField(text: string, field: Field): ReadonlySet<number> | undefined {
  const values = new Set<number>();
  for (const item of text.split(',')) {
    const range = readItem(item, field);
    if (range === undefined) return undefined;
    for (let value = range.from; value <= range.to; value += range.step) values.add(value);
  }
  return values;
}

const ITEM = /^(\*|\?|[0-9a-z]+)(?:-([0-9a-z]+))?(?:\/(\d+))?$/i;

function readItem(
  item: string,
  field: Field,
): { readonly from: number; readonly to: number; readonly step: number } | undefined {
  const match = ITEM.exec(item);
  if (match === null) return undefined;
  const [, first = '', last, stepText] = match;
  const step = stepText === undefined ? 1 : Number(stepText);
  if (step < 1) return undefined;
  if (first === '*' || first === '?') {
    if (last !== undefined || (first === '?' && !field.takesQuestionMark)) return undefined;
    return { from: field.min, to: field.max, step };
  }
  const from = readValue(first, field);
  const single = stepText === undefined ? from : field.max;
  const to = last === undefined ? single : readValue(last, field);
  if (from === undefined || to === undefined || from > to) return undefined;
  return { from, to, step };
}

function readValue(text: string, field: Field): number | undefined {
  if (/^\d+$/.test(text)) {
    const value = Number(text);
    return value >= field.min && value <= field.max ? value : undefined;
  }
  const wanted = text.toLowerCase();
  const place = field.names?.findIndex((name) => name === wanted || name.slice(0, 3) === wanted);
  return place === undefined || place < 0 ? undefined : place + (field.firstName ?? 0);
}
