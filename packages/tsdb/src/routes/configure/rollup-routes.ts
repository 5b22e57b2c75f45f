import { isPlainText, type Route, type RouteDocs } from '@plinth/kernel';
import { MAX_NAME_LENGTH } from '@plinth/tsdb-model/database/limits.js';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import { NS_PER_DAY, NS_PER_SECOND } from '@plinth/tsdb-model/time/calendar.js';
import { formatDuration, parseDuration } from '@plinth/tsdb-model/time/duration.js';
import { Type } from 'typebox';
import type { RouteDeps } from '../deps.js';
import { DB, MANAGEMENT_FAILED } from '../description.js';
import type { ManagementInput } from './management-input.js';

const PATH = '/api/v3/configure/rollup';
const SHORTEST_NS = NS_PER_SECOND;
/** Limits the time range of a run to timestamps that exist. */
const LONGEST_NS = 3660n * NS_PER_DAY;

const NAMED = { ...DB, rollup_name: Type.String({ minLength: 1, maxLength: MAX_NAME_LENGTH }) };
const CREATE: RouteDocs = {
  summary: 'Create a rollup: a SQL query that runs on a schedule',
  body: Type.Object({
    ...NAMED,
    query: Type.String({
      description:
        'SQL with WHERE time >= $from AND time < $to; tags of the result are stored as tags, other columns as fields',
    }),
    table: Type.String({
      minLength: 1,
      maxLength: MAX_NAME_LENGTH,
      description: 'table of the results, in the same database',
    }),
    every: Type.String({ description: 'duration of an interval, such as 1m' }),
    for: Type.Optional(
      Type.String({
        description: 'time range that each run computes again, for late rows; every if absent',
      }),
    ),
  }),
  errors: {
    ...MANAGEMENT_FAILED,
    400: 'a field is invalid, or the result of the query cannot be stored',
    422: 'the limit of 1,000 continuous queries and rollups is reached',
  },
};
const DELETE: RouteDocs = {
  summary: 'Delete a rollup or a continuous query, and keep its results',
  query: NAMED,
};

/** Source: tsdb-http, "Rollups". */
export function rollupRoutes({ routeBuilder, continuousQueries }: RouteDeps): readonly Route[] {
  return [
    routeBuilder.command('POST', PATH, CREATE, async (input) => {
      const everyNs = durationOf(input.requiredText('every'), 'every');
      const forText = input.text('for');
      const forNs = forText === undefined ? undefined : durationOf(forText, 'for');
      if (forNs !== undefined && forNs < everyNs) {
        throw invalid(`'for' must be at least as long as 'every' (${formatDuration(everyNs)})`);
      }
      const table = nameOf(input.requiredText('table'), 'table');
      const definition = { language: 'sql', text: input.requiredText('query') } as const;
      await continuousQueries.define(rollupNameOf(input), { ...definition, everyNs, forNs, table });
    }),
    routeBuilder.command('DELETE', PATH, DELETE, async (input) => {
      const { database, name } = rollupNameOf(input);
      if (await continuousQueries.drop(database, name)) return;
      throw tsdbError('resource_not_found', { resource: name });
    }),
  ];
}

function rollupNameOf(input: ManagementInput): {
  readonly database: string;
  readonly name: string;
} {
  const name = nameOf(input.requiredText('rollup_name'), 'rollup_name');
  return { database: input.requiredText('db'), name };
}

function nameOf(text: string, field: string): string {
  if (text !== '' && text.length <= MAX_NAME_LENGTH && isPlainText(text)) return text;
  throw invalid(`${field} must have 1 to ${MAX_NAME_LENGTH} characters and no control characters`);
}

function durationOf(text: string, field: string): bigint {
  const durationNs = parseDuration(text);
  if (durationNs === undefined) {
    throw invalid(
      `${field} "${text}" is not a valid duration; use a number and a unit, such as 1m`,
    );
  }
  if (durationNs >= SHORTEST_NS && durationNs <= LONGEST_NS) return durationNs;
  throw invalid(
    `${field} "${text}" is out of range; use ${SHORTEST_NS / NS_PER_SECOND}s to ${LONGEST_NS / NS_PER_DAY}d`,
  );
}

const invalid = (why: string): Error => tsdbError('parameter_invalid', why);
