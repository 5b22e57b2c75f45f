import { quoteText } from '../identifiers.js';
import { calledBy, parted, type Token } from '../tokens.js';
import {
  AGGREGATES,
  type BuilderCondition,
  type BuilderQuery,
  EVERY_AUTO,
  operatorsOf,
} from './builder-query.js';
import {
  fieldOf,
  findWord,
  isWord,
  SPACED,
  splitAtAnd,
  type WrittenAggregates,
} from './statement-parts.js';
import { WIDTH_UNITS } from './write-influxql.js';

const WRITTEN: WrittenAggregates = [
  ...AGGREGATES.map((aggregate) => [aggregate, [aggregate, '(']] as const),
  ['avg', ['mean', '(']],
  ['p95', ['percentile', '(']],
  ['rate', ['non_negative_derivative', '(', 'max', '(']],
];

/** Extracts the parts of an InfluxQL statement that the builder may have written. */
export function readInfluxql(tokens: readonly Token[]): BuilderQuery | undefined {
  const find = (word: string): number => findWord(tokens, word);
  const [from, where, group, fill] = [find('from'), find('where'), find('group'), find('fill')];
  const table = tokens[from + 1];
  if (table === undefined || where === tokens.length) return undefined;
  const fields = parted(tokens.slice(1, from)).map((item) => fieldOf(item, WRITTEN, 'influxql'));
  const conditions = splitAtAnd(tokens.slice(where + 1, group))
    .slice(2)
    .map(conditionOf);
  const keys = group === tokens.length ? [] : parted(tokens.slice(group + 2, fill));
  const [first] = keys;
  const every = first?.[0] && isWord(first[0], 'time') ? widthOf(first) : '';
  if (
    every === undefined ||
    !fields.every((field) => field !== undefined) ||
    !conditions.every((condition) => condition !== undefined)
  )
    return undefined;
  const groups = every === '' ? keys : keys.slice(1);
  if (!groups.every((key) => key.length === 1)) return undefined;
  const groupBy = groups.flatMap(([key]) => (key ? [calledBy(key, 'influxql')] : []));
  return { table: calledBy(table, 'influxql'), fields, conditions, groupBy, every };
}

/** Returns the bucket width in `time(…)`, in SQL form. */
function widthOf(key: readonly Token[]): string | undefined {
  const [, macro, count, unit] =
    /^time \( (?:(\$\{interval\})|(\d+)([a-z]+)) \)$/i.exec(SPACED(key)) ?? [];
  if (macro !== undefined) return EVERY_AUTO;
  const [, word] = WIDTH_UNITS.find(([short]) => short === unit) ?? [];
  return word === undefined ? undefined : `${count} ${word}${count === '1' ? '' : 's'}`;
}

function conditionOf([name, ...rest]: readonly Token[]): BuilderCondition | undefined {
  if (name === undefined) return undefined;
  const text = SPACED(rest).replace(/^([<>!]) =/, '$1=');
  // Longer operators come first, so that `<=` is not read as `<`.
  const operator = [...operatorsOf('influxql')]
    .sort((a, b) => b.length - a.length)
    .find((each) => text.startsWith(`${each} `));
  if (operator === undefined) return undefined;
  const literal = literalOf(text.slice(operator.length + 1).replace(/^- (?=\d)/, '-'));
  return literal === undefined
    ? undefined
    : { column: calledBy(name, 'influxql'), operator, literal };
}

/** Converts a single InfluxQL literal to a SQL literal. */
function literalOf(text: string): string | undefined {
  if (/^(?:-?\d+(?:\.\d+)?|true|false)$/i.test(text)) return text;
  if (!/^'(?:[^'\\]|\\[\s\S])*'$/.test(text)) return undefined;
  const inner = text.slice(1, -1);
  return quoteText(
    inner.replace(/\\([\s\S])/g, (_, char: string) => (char === 'n' ? '\n' : char)),
    'sql',
  );
}
