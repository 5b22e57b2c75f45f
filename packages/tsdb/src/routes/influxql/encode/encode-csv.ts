import type { Value } from '@plinth/tsdb-influxql/plan/data-type.js';
import {
  type ResultHeading,
  type StatementResult,
  seriesOf,
} from '@plinth/tsdb-influxql/result.js';
import { floorDiv } from '@plinth/tsdb-model/time/calendar.js';
import { quoteCsv } from '../../formats/csv.js';

/** Encodes the rows of one statement; timestamps are integers. Source: tsdb-http, "CSV". */
export async function* encodeCsv(
  result: StatementResult,
  epochNs: bigint,
): AsyncGenerator<string, void, undefined> {
  let isBegun = false;
  let last: ResultHeading = result;
  for await (const { name, tags, rowCount, columns, heading = result } of seriesOf(result)) {
    const isSameHeading = isBegun && areSameColumns(heading, last);
    let out = isSameHeading ? '' : `${isBegun ? '\n' : ''}${headerOf(heading)}\n`;
    isBegun = true;
    last = heading;
    const prefix = `${quoteCsv(name)},${quoteCsv(heading.tagNames.map((key, i) => `${key}=${tags[i] ?? ''}`).join(','))}`;
    for (let row = 0; row < rowCount; row++) {
      out += prefix;
      for (let i = 0; i < columns.length; i++) {
        const isTime = heading.columns[i]?.type === 'time';
        out += `,${cellText(columns[i]?.[row] ?? null, isTime ? epochNs : undefined)}`;
      }
      out += '\n';
    }
    yield out;
  }
}

const headerOf = ({ columns }: ResultHeading): string =>
  ['name', 'tags', ...columns.map(({ name }) => name)].map(quoteCsv).join(',');

const areSameColumns = (a: ResultHeading, b: ResultHeading): boolean =>
  a === b || headerOf(a) === headerOf(b);

function cellText(value: Value, epochNs: bigint | undefined): string {
  if (value === null) return '';
  if (typeof value === 'bigint')
    return String(epochNs === undefined ? value : floorDiv(value, epochNs));
  if (typeof value === 'number') {
    if (value === Number.POSITIVE_INFINITY) return 'inf';
    if (value === Number.NEGATIVE_INFINITY) return '-inf';
    return String(value);
  }
  return quoteCsv(String(value));
}
