import type { Aggregation, GapFill } from '../bind/aggregate/aggregation.js';
import { quoteName, quoteString } from '../emit/quote.js';

/**
 * Returns the query with a row for every bin of every series; `grouped` is the text of the groups
 * with data. A series is one combination of the keys other than the bin.
 * Source: query-languages, "SQL gap filling".
 */
export function filledText(aggregation: Aggregation, grouped: string): string {
  const { gaps, keys, values, fills } = aggregation;
  if (gaps === undefined) return grouped;
  const bin = quoteName(gaps.key.duckDbName);
  const others = keys.filter((key) => key !== gaps.key).map((key) => quoteName(key.duckDbName));
  const series =
    others.length === 0
      ? 'SELECT 1 FROM groups LIMIT 1'
      : `SELECT DISTINCT ${others.join(', ')} FROM groups`;
  const on = [...others.map((key) => `s.${key} IS NOT DISTINCT FROM g.${key}`), `b.bin = g.${bin}`];
  const valueItems = values.map(({ text, duckDbName }) => {
    const column = `g.${quoteName(duckDbName)}`;
    // The count of an empty bin is 0.
    const shown = text.startsWith('count(') ? `coalesce(${column}, 0)` : column;
    return `${shown} AS ${quoteName(duckDbName)}`;
  });
  const all =
    `SELECT ${[...others.map((key) => `s.${key}`), `b.bin AS ${bin}`, ...valueItems].join(', ')}, ` +
    `g.${bin} IS NOT NULL AS present ` +
    `FROM (${series}) AS s CROSS JOIN (${gaps.binsText}) AS b LEFT JOIN groups AS g ON ${on.join(' AND ')}`;
  const columns = [...keys, ...values].map(({ duckDbName }) => quoteName(duckDbName));
  const partition = others.length === 0 ? '' : `PARTITION BY ${others.join(', ')} `;
  const fillItems = fills.map(
    (fill) => `${fillText(fill, { bin, partition })} AS ${quoteName(fill.duckDbName)}`,
  );
  return (
    `WITH groups AS MATERIALIZED (${grouped}), bins AS (${all}) ` +
    `SELECT ${[...columns, ...fillItems].join(', ')} FROM bins`
  );
}

interface Series {
  readonly bin: string;
  readonly partition: string;
}

function fillText(fill: GapFill, { bin, partition }: Series): string {
  const value = quoteName(fill.value.duckDbName);
  const before = `OVER (${partition}ORDER BY ${bin} ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)`;
  const after = `OVER (${partition}ORDER BY ${bin} ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)`;
  const fields = fill.type.kind === 'struct' ? fill.type.fields : [];
  const isSelector = fields.some(({ name }) => name === 'value');
  if (fill.how === 'locf') {
    const known = isSelector ? `CASE WHEN ${value}.value IS NOT NULL THEN ${value} END` : value;
    return `last_value(${known} IGNORE NULLS) ${before}`;
  }
  const number = isSelector ? `${value}.value` : value;
  // Bins with rows are the points of the interpolation; a NULL point interrupts it.
  const corner = `CASE WHEN present THEN {'v': ${number}, 't': epoch_ns(${bin})} END`;
  const left = `last_value(${corner} IGNORE NULLS) ${before}`;
  const right = `first_value(${corner} IGNORE NULLS) ${after}`;
  const line = lineText({ left, right, bin, fill });
  const filled = `CASE WHEN present THEN ${number} ELSE ${line} END`;
  if (!isSelector) return filled;
  const members = fields.map(
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
  const rise = `(CAST(${at(right, 'v')} AS HUGEINT) - ${at(left, 'v')})`;
  const name = member.signed ? 'BIGINT' : 'UBIGINT';
  return `CAST(${at(left, 'v')} + CAST(trunc(${rise} * (${elapsed} / ${whole})) AS HUGEINT) AS ${name})`;
}
