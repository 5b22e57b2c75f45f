// Source: query-languages, sections 1 to 8.

import { FULL_ACCESS } from '@plinth/tsdb-model/database/database-access.js';
import type { ParameterValue } from '@plinth/tsdb-model/query/planned-query.js';
import { renderResult } from '#src/testing/render-result.js';
import { describeCases } from './run-cases.js';

describeCases({
  title: 'SQL answers as its specification says',
  extension: 'sql',
  async respond(node, database, query) {
    const result = await node.engine.query({
      database,
      access: FULL_ACCESS,
      language: 'sql',
      text: query.query,
      params: new Map(
        Object.entries(query.params).map(([name, value]) => [name, parameterOf(value)]),
      ),
      signal: new AbortController().signal,
    });
    return await renderResult(result);
  },
});

function parameterOf(value: unknown): ParameterValue {
  if (typeof value === 'number') return Number.isInteger(value) ? BigInt(value) : value;
  // Case files contain no other kinds of parameters.
  return value as null | boolean | string;
}
