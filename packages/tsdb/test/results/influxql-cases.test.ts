// Source: query-languages, sections 9 to 15. InfluxDB 1.6.7 computed the expected results, except
// errors, from the same rows; floats have nine digits.

import type { Value } from '@plinth/tsdb-influxql/plan/data-type.js';
import { type StatementResult, seriesOf } from '@plinth/tsdb-influxql/result.js';
import { FULL_ACCESS } from '@plinth/tsdb-model/database/database-access.js';
import { readParamsText } from '#src/routes/influxql/v1-input.js';
import { describeCases } from './run-cases.js';

describeCases({
  title: 'InfluxQL answers as its specification says',
  extension: 'influxql',
  async respond(node, database, query) {
    const run = await node.influxql.open({
      text: query.query,
      database,
      access: FULL_ACCESS,
      policy: undefined,
      params: readParamsText(JSON.stringify(query.params)),
      signal: new AbortController().signal,
    });
    try {
      const lines: string[] = [];
      for (const index of run.statements.keys()) {
        const answered = run.execute(index).then(rendered);
        // As on the wire, a failure does not prevent the statements after it.
        lines.push(...(index === 0 ? await answered : await answered.catch(failed)));
      }
      return lines;
    } finally {
      run.end('success');
    }
  },
});

const failed = (error: Error): readonly string[] => [`error: ${error.message}`];

async function rendered(response: StatementResult): Promise<string[]> {
  const { columns, tagNames } = response;
  const lines: string[] = [];
  let before = '';
  for await (const { name, tags, rowCount, columns: values } of seriesOf(response)) {
    const head = `${name}{${tagNames.map((tag, i) => `${tag}=${tags[i]}`).join(',')}}`;
    if (head !== before) lines.push(head, columns.map((column) => column.name).join(' | '));
    before = head;
    for (let row = 0; row < rowCount; row++) {
      lines.push(values.map((column) => cellText(column[row] ?? null)).join(' | '));
    }
  }
  return lines.length === 0 ? ['(no series)'] : lines;
}

function cellText(value: Value): string {
  if (value === null || Number.isNaN(value)) return 'NULL';
  if (typeof value === 'number') return String(Number(value.toPrecision(9)));
  if (typeof value !== 'string') return String(value);
  return value === value.trim() && value !== '' ? value : `"${value}"`;
}
