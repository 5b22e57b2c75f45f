import type { Aggregation, GapFill } from '../bind/aggregate/aggregation.js';
import { quoteName, quoteString } from '../emit/quote.js';

/** Queries of the groups with data: those in the time range, and earlier ones if `locf` uses them. */
interface Groups {
  readonly grouped: string;
  readonly earlier: string | undefined;
}

/**
 * Returns the query with a row for every bin of every series. A series is one combination of the
 * keys other than the bin.
 * Source: query-languages, "SQL gap filling".
 */
export function filledText(aggregation: Aggregation, { grouped, earlier }: Groups): string {
  const { gaps, keys, values, fills } = aggregation;
  if (gaps === undefined) return grouped;
  const bin = quoteName(gaps.key.duckDbName);
  const others = keys.filter((key) => key !== gaps.key).map((key) => quoteName(key.duckDbName));
  const same = (alias: string) =>
    others.map((key) => `s.${key} IS NOT DISTINCT FROM ${alias}.${key}`);
  const valueItems = values.map(({ text, duckDbName }) => {
    const column = `g.${quoteName(duckDbName)}`;
    // The count of an empty bin is 0.
    const shown = text.startsWith('count(') ? `coalesce(${column}, 0)` : column;
    return `${shown} AS ${quoteName(duckDbName)}`;
  });
  const carried = earlier === undefined ? [] : fills.filter(({ how }) => how === 'locf');
  const carriedItems = carried.map((fill) => `c.${carriedName(fill)}`);
  const carriedJoin =
    carried.length === 0
      ? ''
      : ` LEFT JOIN carried AS c ON ${['true', ...same('c')].join(' AND ')}`;
  const all =
    `SELECT ${[...others.map((key) => `s.${key}`), `b.bin AS ${bin}`, ...valueItems, ...carriedItems].join(', ')} ` +
    `FROM (${seriesText(others, carried.length > 0)}) AS s CROSS JOIN (${gaps.binsText}) AS b ` +
    `LEFT JOIN groups AS g ON ${[...same('g'), `b.bin = g.${bin}`].join(' AND ')}${carriedJoin}`;
  const columns = [...keys, ...values].map(({ duckDbName }) => quoteName(duckDbName));
  const partition = others.length === 0 ? '' : `PARTITION BY ${others.join(', ')} `;
  const fillItems = fills.map((fill) => {
    const text = fillText(fill, { bin, partition });
    const filled = carried.includes(fill) ? `coalesce(${text}, ${carriedName(fill)})` : text;
    return `${filled} AS ${quoteName(fill.duckDbName)}`;
  });
  const carriedText =
    earlier === undefined
      ? ''
      : `earlier AS MATERIALIZED (${earlier}), carried AS (${lastText(carried, { bin, others })}), `;
  return (
    `WITH groups AS MATERIALIZED (${grouped}), ${carriedText}bins AS (${all}) ` +
    `SELECT ${[...columns, ...fillItems].join(', ')} FROM bins`
  );
}

function carriedName({ duckDbName }: GapFill): string {
  return quoteName(`e${duckDbName}`);
}

function seriesText(others: readonly string[], isCarried: boolean): string {
  if (others.length === 0) {
    const from = isCarried ? '(SELECT 1 FROM groups UNION ALL SELECT 1 FROM carried)' : 'groups';
    return `SELECT 1 FROM ${from} LIMIT 1`;
  }
  const keys = others.join(', ');
  const ofGroups = `SELECT DISTINCT ${keys} FROM groups`;
  return isCarried ? `${ofGroups} UNION SELECT ${keys} FROM carried` : ofGroups;
}

/** Returns the query of the last earlier values of each series that has one. */
function lastText(
  carried: readonly GapFill[],
  { bin, others }: { readonly bin: string; readonly others: readonly string[] },
): string {
  const isKnown = carried.map((fill) => `${knownText(fill)} IS NOT NULL`);
  const items = carried.map(
    (fill, i) =>
      `last(${knownText(fill)} ORDER BY ${bin}) FILTER (${isKnown[i]}) AS ${carriedName(fill)}`,
  );
  const grouping = others.length === 0 ? '' : ` GROUP BY ${others.join(', ')}`;
  return `SELECT ${[...others, ...items].join(', ')} FROM earlier WHERE ${isKnown.join(' OR ')}${grouping} HAVING count(*) > 0`;
}

interface Series {
  readonly bin: string;
  readonly partition: string;
}

/** Returns the text of a value; a selector without a value becomes NULL. */
function knownText(fill: GapFill): string {
  const value = quoteName(fill.value.duckDbName);
  return isSelector(fill) ? `CASE WHEN ${value}.value IS NOT NULL THEN ${value} END` : value;
}

function isSelector({ type }: GapFill): boolean {
  return type.kind === 'struct' && type.fields.some(({ name }) => name === 'value');
}

function fillText(fill: GapFill, { bin, partition }: Series): string {
  const value = quoteName(fill.value.duckDbName);
  const before = `OVER (${partition}ORDER BY ${bin} ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)`;
  const after = `OVER (${partition}ORDER BY ${bin} ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)`;
  if (fill.how === 'locf') return `last_value(${knownText(fill)} IGNORE NULLS) ${before}`;
  const number = isSelector(fill) ? `${value}.value` : value;
  const corner = `CASE WHEN ${number} IS NOT NULL THEN {'v': ${number}, 't': epoch_ns(${bin})} END`;
  const left = `last_value(${corner} IGNORE NULLS) ${before}`;
  const right = `first_value(${corner} IGNORE NULLS) ${after}`;
  const line = lineText({ left, right, bin, fill });
  const filled = `CASE WHEN ${number} IS NOT NULL THEN ${number} ELSE ${line} END`;
  if (fill.type.kind !== 'struct' || !isSelector(fill)) return filled;
  const members = fill.type.fields.map(
    ({ name }) =>
      `${quoteString(name)}: ${name === 'value' ? filled : `struct_extract(${value}, ${quoteString(name)})`}`,
  );
  return `{${members.join(', ')}}`;
}

function lineText(options: {
  readonly left: string;
  readonly right: string;
  readonly bin: string;
  readonly fill: GapFill;
}): string {
  const { left, right, bin, fill } = options;
  const member =
    fill.type.kind === 'struct'
      ? fill.type.fields.find(({ name }) => name === 'value')?.type
      : fill.type;
  const at = (corner: string, field: string) => `struct_extract(${corner}, '${field}')`;
  const elapsed = `(epoch_ns(${bin}) - ${at(left, 't')})`;
  const whole = `(${at(right, 't')} - ${at(left, 't')})`;
  if (member?.kind !== 'int') {
    return `${at(left, 'v')} + (${at(right, 'v')} - ${at(left, 'v')}) * (${elapsed} / ${whole})`;
  }
  // Integers are exact: the sum of both values, weighted by the distance of the other one.
  const parts = [
    `CAST(${at(left, 'v')} AS HUGEINT) * (${at(right, 't')} - epoch_ns(${bin}))`,
    `CAST(${at(right, 'v')} AS HUGEINT) * ${elapsed}`,
  ];
  const name = member.signed ? 'BIGINT' : 'UBIGINT';
  return `CAST((${parts.join(' + ')}) // ${whole} AS ${name})`;
}
