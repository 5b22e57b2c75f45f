import type { Column, ColumnKind, FieldType } from '@plinth/tsdb-model/columns/column.js';
import type { TableSchema } from '@plinth/tsdb-model/schema.js';
import { quoteName } from '@plinth/tsdb-model/text/quote.js';

/** The types to which a column can be converted. */
export type TargetKind = FieldType | 'tag';
export const TARGET_KINDS: readonly TargetKind[] = [
  ...(['float64', 'int64', 'uint64', 'utf8', 'bool', 'tag'] as const),
];

/** The SQL for converting a value. */
interface ValueConversion {
  readonly value: (column: string) => string;
  /** Returns an SQL condition for values that can be converted; absent if all can. */
  readonly isPossible?: (column: string) => string;
  /** Returns an SQL condition for values that stay exact; absent if all do. */
  readonly isExact?: (column: string) => string;
}

const castTo =
  (type: string) =>
  (column: string): string =>
    `CAST(${column} AS ${type})`;
const viaInteger =
  (type: string) =>
  (column: string): string =>
    `CAST(CAST(${column} AS BIGINT) AS ${type})`;
const parsed = (type: string): ValueConversion => ({
  value: castTo(type),
  isPossible: (column) => `TRY_CAST(${column} AS ${type}) IS NOT NULL`,
});
const isWhole = (column: string, least: string, end: string): string =>
  `(${column} = floor(${column}) AND ${column} >= ${least} AND ${column} < ${end})`;
/** Returns an SQL condition for text without tabs and newlines, which line protocol cannot escape in tags. */
const hasNoBreak = (column: string): string =>
  `(strpos(${column}, chr(9)) = 0 AND strpos(${column}, chr(10)) = 0)`;
const TEXT: ValueConversion = { value: castTo('VARCHAR') };
/** Integers above 2^53 are not exact as floats. */
const TO_FLOAT: ValueConversion = {
  value: castTo('DOUBLE'),
  isExact: (c) => `(${c} >= -9007199254740992 AND ${c} <= 9007199254740992)`,
};

type Conversions = Readonly<
  Record<Exclude<ColumnKind, 'time'>, Partial<Record<TargetKind, ValueConversion>>>
>;
const CONVERSIONS: Conversions = {
  int64: {
    float64: TO_FLOAT,
    uint64: { value: castTo('BIGINT UNSIGNED'), isPossible: (c) => `${c} >= 0` },
    utf8: TEXT,
    tag: TEXT,
  },
  uint64: {
    float64: { ...TO_FLOAT, isExact: (c) => `${c} <= 9007199254740992` },
    int64: { value: castTo('BIGINT'), isPossible: (c) => `${c} <= 9223372036854775807` },
    utf8: TEXT,
    tag: TEXT,
  },
  float64: {
    int64: {
      value: castTo('BIGINT'),
      isPossible: (c) => isWhole(c, '-9223372036854775808.0', '9223372036854775808.0'),
    },
    uint64: {
      value: castTo('BIGINT UNSIGNED'),
      isPossible: (c) => isWhole(c, '0.0', '18446744073709551616.0'),
    },
    utf8: TEXT,
    tag: TEXT,
  },
  bool: {
    float64: { value: viaInteger('DOUBLE') },
    int64: { value: castTo('BIGINT') },
    uint64: { value: viaInteger('BIGINT UNSIGNED') },
    utf8: TEXT,
    tag: TEXT,
  },
  utf8: {
    float64: {
      ...parsed('DOUBLE'),
      isPossible: (c) => `NOT isnan(TRY_CAST(${c} AS DOUBLE))`, // not for text, whose cast is NULL
    },
    int64: parsed('BIGINT'),
    uint64: parsed('BIGINT UNSIGNED'),
    bool: parsed('BOOLEAN'),
    tag: { value: (column) => column, isPossible: hasNoBreak },
  },
  tag: { utf8: TEXT },
};

export function conversionOf(from: ColumnKind, to: TargetKind): ValueConversion | undefined {
  return from === 'time' ? undefined : CONVERSIONS[from][to];
}

/** Returns the kinds to which a column of this kind can be converted. */
export const targetsOf = (from: ColumnKind): readonly TargetKind[] =>
  TARGET_KINDS.filter((to) => conversionOf(from, to) !== undefined);

/** Returns a query for the rows of a time range with the converted column, in the order in which they are written. */
export function copyText(table: TableSchema, column: Column, conversion: ValueConversion): string {
  const list = [...table.columns.values()].map(({ name }) => {
    const quoted = quoteName(name);
    return name === column.name ? `${conversion.value(quoted)} AS ${quoted}` : quoted;
  });
  // If points are merged, the point with the greatest value of the former tag is written last.
  const order = column.kind === 'tag' ? `time, ${quoteName(column.name)} NULLS FIRST` : 'time';
  return `SELECT ${list.join(', ')} FROM ${quoteName(table.name)} WHERE time >= $from AND time <= $to ORDER BY ${order}`;
}

/**
 * Counts the rows that a conversion affects, in one row: see `ConversionCounts`. The last number
 * counts the rows that cannot be copied, because of NaN or of a tag in `brokenTags`.
 */
export function countText(
  table: TableSchema,
  column: Column,
  { isPossible, isExact }: ValueConversion,
  { to, brokenTags }: { readonly to: TargetKind; readonly brokenTags: readonly string[] },
): string {
  const quoted = quoteName(column.name);
  const countIf = (condition: string): string => `sum(CASE WHEN ${condition} THEN 1 ELSE 0 END)`;
  const not = (test: ((column: string) => string) | undefined): string =>
    test === undefined ? '0' : countIf(`${quoted} IS NOT NULL AND (${test(quoted)}) IS NOT TRUE`);
  const others = [...table.columns.values()].filter(
    ({ kind, name }) => kind !== 'tag' && kind !== 'time' && name !== column.name,
  );
  const isFieldless =
    others.map(({ name }) => `${quoteName(name)} IS NULL`).join(' AND ') || 'true';
  const fieldless = to === 'tag' ? countIf(isFieldless) : '0';
  const faults = [
    ...others
      .filter(({ kind }) => kind === 'float64')
      .map(({ name }) => `isnan(${quoteName(name)})`),
    ...brokenTags.map((name) => `NOT ${hasNoBreak(quoteName(name))}`),
  ];
  const uncopied = faults.length === 0 ? '0' : countIf(faults.join(' OR '));
  const counts = [
    ...['count(*)', `count(${quoted})`, not(isPossible), not(isExact), fieldless, uncopied],
  ];
  return `SELECT ${counts.map((count, i) => `${count} AS c${i}`).join(', ')} FROM ${quoteName(table.name)}`;
}

/** Counts the points at or after the timestamp `$from`. */
export const countAllText = ({ name }: TableSchema): string =>
  `SELECT count(*) AS c0 FROM ${quoteName(name)} WHERE time >= $from`;

/** Counts the points at or after the timestamp `$from` that remain without a tag in the series key. */
export function pointsText(table: TableSchema, column: Column): string {
  const tags = table.seriesKey.filter((tag) => tag !== column.name).map(quoteName);
  const key = ['time', ...tags].join(', ');
  return `SELECT count(*) AS c0 FROM (SELECT ${key} FROM ${quoteName(table.name)} WHERE time >= $from GROUP BY ${key}) AS points`;
}
