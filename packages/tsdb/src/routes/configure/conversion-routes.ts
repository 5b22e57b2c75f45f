import { jsonResponse, OpenApi, type Route, type RouteDocs } from '@plinth/kernel';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import { Type } from 'typebox';
import { TARGET_KINDS } from '../../domain/conversions/conversion-sql.js';
import { referencesTo } from '../../domain/schema-references/schema-references.js';
import type { RouteDeps } from '../deps.js';
import { MANAGEMENT_FAILED, TABLE as NAMED } from '../description.js';
import { ManagementInput } from './management-input.js';
import { ListedReferences } from './rename-routes.js';
import { tableOf } from './table-routes.js';

const { response, json, nullable, oneOf } = OpenApi;
const PATH = '/api/v3/configure/column/convert';
const Count = Type.Integer({ minimum: 0 });

const Conversion = Type.Object({
  id: Type.Integer({ minimum: 1 }),
  db: Type.String(),
  table: Type.String(),
  column: Type.String(),
  from: Type.String(),
  to: oneOf(TARGET_KINDS),
  state: oneOf(['running', 'completed', 'failed', 'cancelled']),
  row_count: Type.Integer({ minimum: 0, description: 'rows of the table at the start' }),
  copied_count: Type.Integer({ minimum: 0, description: 'includes rows that were copied again' }),
  started_at: Type.String(),
  error: nullable(Type.String()),
});
const Checked = Type.Object({
  dry_run: Type.Boolean(),
  row_count: Count,
  value_count: Count,
  impossible_values: Type.Integer({
    minimum: 0,
    description: 'a conversion starts only without them',
  }),
  inexact_values: Type.Integer({
    minimum: 0,
    description: 'integers that a float cannot represent',
  }),
  rows_without_field: Type.Integer({
    minimum: 0,
    description: 'a conversion starts only without them',
  }),
  merged_points: Type.Integer({
    minimum: 0,
    description: 'points that become part of another one',
  }),
  follows: ListedReferences,
  needs_change: ListedReferences,
});
const CONVERT: RouteDocs = {
  summary: 'Convert the type of a field, a tag to a field, or a field to a tag',
  body: Type.Object({
    ...NAMED,
    column: Type.String({ minLength: 1 }),
    to: oneOf(TARGET_KINDS),
    dry_run: Type.Optional(
      Type.Boolean({ description: 'count the affected values without converting them' }),
    ),
  }),
  output: {
    200: response('the effects of a dry run', json(Checked)),
    202: response('the conversion was started', json(Conversion)),
  },
  errors: {
    ...MANAGEMENT_FAILED,
    400: 'the column cannot have the type, or some values cannot',
    404: 'database, table or column not found',
    409: 'another conversion is running',
  },
};
const LIST: RouteDocs = {
  summary: 'List running and recent conversions with their progress',
  output: {
    200: response('newest first', json(Type.Object({ conversions: Type.Array(Conversion) }))),
  },
};
const CANCEL: RouteDocs = {
  summary: 'Cancel a running conversion without changing any data',
  query: { id: Type.Integer({ minimum: 1 }) },
  errors: { ...MANAGEMENT_FAILED, 404: 'no conversion with this id is running' },
};

/** Source: tsdb-http, "Conversions". */
export function conversionRoutes(deps: RouteDeps): readonly Route[] {
  const { routeBuilder, conversions } = deps;
  return [
    routeBuilder.send('POST', PATH, CONVERT, async (request) => {
      const signal = request.disconnectSignal();
      const input = ManagementInput.of(request);
      const column = input.requiredText('column');
      const to = input.choice('to', TARGET_KINDS);
      if (to === undefined)
        throw tsdbError(
          'parameter_invalid',
          `missing field \`to\`; use ${TARGET_KINDS.join(', ')}`,
        );
      const conversion = { ...tableOf(input), column, to };
      if (input.flag('dry_run') !== true)
        return jsonResponse(202, await conversions.start(conversion, signal));
      const {
        database,
        table,
        column: found,
        ...counts
      } = await conversions.check(conversion, signal);
      const references = await referencesTo(deps, {
        ...{ database, table, column: found },
        isConverted: true,
      });
      return jsonResponse(200, { dry_run: true, ...counts, ...references });
    }),
    routeBuilder.get(PATH, LIST, () => jsonResponse(200, { conversions: conversions.list() })),
    routeBuilder.command(
      'DELETE',
      PATH,
      CANCEL,
      async (input) => {
        const id = input.requiredText('id');
        if (!conversions.cancel(Number(id)))
          throw tsdbError('resource_not_found', { resource: `conversion ${id}` });
      },
      { isOfQuery: true },
    ),
  ];
}
