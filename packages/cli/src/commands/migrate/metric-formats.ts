import { floatText } from '@plinth/line-protocol';
import { BadLine, escaped, escapedTable, lineByLine, type Note } from './line-files.js';

/** A line of `/api/v1/export` of VictoriaMetrics: a series with all its values, with timestamps in milliseconds. */
interface Exported {
  readonly metric?: Readonly<Record<string, string>>;
  readonly values?: readonly (number | string | null)[];
  readonly timestamps?: readonly number[];
}

/** A sample as `promtool tsdb dump` prints it: labels in braces, value, milliseconds. */
const DUMPED = /^\{(.*)\} (\S+) (-?\d+)$/;
const LABEL = /([A-Za-z_][\w.:]*)="((?:[^"\\]|\\.)*)"(?:, ?|$)/y;

/**
 * Metrics of Prometheus and VictoriaMetrics. A metric becomes a table, its labels become tags, and its values the field `value`.
 * NaN values are skipped: they mark the end of a series, and line protocol does not support them.
 */
export const metrics = lineByLine((line, note) =>
  line.startsWith('{"metric"') ? ofExport(line, note) : ofDump(line, note),
);

function* ofExport(line: string, note: Note): Generator<string> {
  let read: Exported;
  try {
    read = JSON.parse(line) as Exported;
  } catch {
    throw new BadLine('the line is not JSON from VictoriaMetrics /api/v1/export');
  }
  const { metric, values, timestamps } = read;
  if (
    !metric ||
    !Array.isArray(values) ||
    !Array.isArray(timestamps) ||
    values.length !== timestamps.length
  ) {
    throw new BadLine('the metric is missing, or the numbers of values and timestamps differ');
  }
  const series = seriesOf(Object.entries(metric), note);
  for (const [i, value] of values.entries()) {
    const time: unknown = timestamps[i];
    if (!Number.isSafeInteger(time))
      throw new BadLine(`timestamp ${i + 1} is not an integer number of milliseconds`);
    const text = numberText(value);
    if (text !== undefined) yield `${series} value=${text} ${time}000000`;
  }
}

function* ofDump(line: string, note: Note): Generator<string> {
  const [, inBraces, value = '', time] = DUMPED.exec(line) ?? [];
  if (inBraces === undefined) {
    throw new BadLine(
      'the line is neither JSON from /api/v1/export nor a sample from `promtool tsdb dump`',
    );
  }
  const labels: [string, string][] = [];
  LABEL.lastIndex = 0;
  while (LABEL.lastIndex < inBraces.length) {
    const [, name, quoted] = LABEL.exec(inBraces) ?? [];
    if (name === undefined) throw new BadLine('invalid labels; use {name="value",...}');
    labels.push([name, unquoted(quoted ?? '')]);
  }
  const text = numberText(value);
  if (text !== undefined) yield `${seriesOf(labels, note)} value=${text} ${time}000000`;
}

function unquoted(text: string): string {
  try {
    return JSON.parse(`"${text}"`) as string;
  } catch {
    throw new BadLine(`the label value "${text}" contains an invalid escape sequence`);
  }
}

function seriesOf(labels: readonly (readonly [string, string])[], note: Note): string {
  const name = labels.find(([label]) => label === '__name__')?.[1] ?? '';
  const tags = labels
    .filter(([label, value]) => label !== '__name__' && value !== '')
    .map(([label, value]) => {
      const plain = value.replace(/[\t\r\n]+/g, ' ');
      if (plain !== value)
        note(`label "${label}": line breaks and tabs in its values are replaced by spaces`);
      return `,${escaped(label)}=${escaped(plain)}`;
    });
  return `${escapedTable(name)}${tags.join('')}`;
}

/** Formats a number in line protocol; infinity is written as a number that overflows. */
function numberText(value: unknown): string | undefined {
  if (value === null || /^[+-]?nan$/i.test(String(value))) return undefined;
  const sign = /^([+-]?)inf(?:inity)?$/i.exec(String(value))?.[1];
  if (sign !== undefined)
    return floatText(sign === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY);
  const number = Number(value);
  if (String(value).trim() === '' || !Number.isFinite(number))
    throw new BadLine(`${JSON.stringify(value)} is not a number`);
  return floatText(number);
}

/** Format `path value seconds`; `path;tag=value` adds tags. The path becomes the table, the value the field `value`. */
export const graphite = lineByLine(function* (line) {
  const parts = line.trim().split(/\s+/);
  const [path = '', value = '', time = ''] = parts;
  if (parts.length !== 3 || !/^-?\d+(?:\.\d{1,9})?$/.test(time)) {
    throw new BadLine('invalid line; use `path value seconds`');
  }
  const [table = '', ...tags] = path.split(';');
  const tagTexts = tags.map((tag) => {
    const [, name, text] = /^([^=]+)=(.+)$/.exec(tag) ?? [];
    if (name === undefined || text === undefined)
      throw new BadLine(`${JSON.stringify(tag)} is not a valid tag; use name=value`);
    return `,${escaped(name)}=${escaped(text)}`;
  });
  const [seconds = '', fraction = ''] = time.split('.');
  const text = numberText(value);
  if (text === undefined) return;
  yield `${escapedTable(table)}${tagTexts.join('')} value=${text} ${seconds}${fraction.padEnd(9, '0')}`;
});
