import { assertNever, invariant } from '@plinth/kernel';
import type { ResultStream } from '@plinth/tsdb-model/columns/result.js';
import type { IntervalValue, SqlType } from '@plinth/tsdb-model/sql-type.js';
import { formatTime } from '@plinth/tsdb-sql/functions/time/chrono-format.js';

/** A result as the lines of a `*.result` file: names, then rows, with cells separated by ` | `. */
export async function renderResult(result: ResultStream): Promise<string[]> {
  const lines = [result.columns.map((column) => column.name).join(' | ')];
  for await (const chunk of result.chunks) {
    for (let row = 0; row < chunk.rowCount; row++) {
      const cells = chunk.columns.map(({ values, validity }, index) => {
        const isNull =
          validity !== undefined && ((validity[row >> 3] ?? 0) & (1 << (row & 7))) === 0;
        const type = result.columns[index]?.type;
        invariant(type !== undefined, 'a chunk does not have the columns of its result');
        return isNull ? 'NULL' : cellText(values[row], type);
      });
      lines.push(cells.join(' | '));
    }
  }
  return lines;
}

/**
 * Strings are unquoted, except empty ones and those with outer spaces, which a file cannot show.
 */
function cellText(value: unknown, type: SqlType): string {
  if (type.kind === 'utf8' || type.kind === 'tag') {
    const text = String(value);
    return text === text.trim() && text !== '' ? text : `"${text}"`;
  }
  return valueText(value, type);
}

/** The casts follow the table of `SqlType`. */
function valueText(value: unknown, type: SqlType): string {
  if (value === null || value === undefined) return 'NULL';
  switch (type.kind) {
    case 'null':
      return 'NULL';
    case 'boolean':
      return value === 1 || value === true ? 'true' : 'false';
    case 'float':
      return floatText(value as number);
    case 'date':
      return formatTime(BigInt(value as number) * 86_400_000_000_000n, '%F', undefined) ?? '';
    case 'time':
      return formatTime(value as bigint, '%T%.f', undefined) ?? '';
    case 'timestamp':
      return timestampText(value as bigint, type.zone);
    case 'interval': {
      const { months, days, nanos } = value as IntervalValue;
      return `${months} mons ${days} days ${nanos} ns`;
    }
    case 'binary':
      return Buffer.from(value as Uint8Array).toString('hex');
    case 'list':
      return `[${(value as unknown[]).map((item) => valueText(item, type.element)).join(', ')}]`;
    case 'struct': {
      const members = value as Record<string, unknown>;
      const texts = type.fields.map(
        ({ name, type: t }) => `${name}: ${valueText(members[name], t)}`,
      );
      return `{${texts.join(', ')}}`;
    }
    case 'map': {
      const entries = value as [unknown, unknown][];
      const texts = entries.map(
        ([key, item]) => `${valueText(key, type.key)}: ${valueText(item, type.value)}`,
      );
      return `{${texts.join(', ')}}`;
    }
    case 'int':
    case 'duration':
    case 'decimal':
    case 'utf8':
    case 'tag':
      return String(value);
    default:
      return assertNever(type);
  }
}

function floatText(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf';
  const text = Object.is(value, -0) ? '-0' : String(value);
  return /^-?\d+$/.test(text) ? `${text}.0` : text;
}

function timestampText(timeNs: bigint, zone: string | undefined): string {
  const text = formatTime(timeNs, '%Y-%m-%dT%H:%M:%S%.f', zone) ?? '';
  if (zone === undefined) return text;
  const offset = formatTime(timeNs, '%:z', zone) ?? '';
  return text + (offset === '+00:00' ? 'Z' : offset);
}
