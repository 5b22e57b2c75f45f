import { queryOf, type Route, type RouteDocs } from '@plinth/kernel';
import type { HardDeletion } from '@plinth/tsdb-catalog/deletion/deleted-resources.js';
import { INTERNAL_DATABASE } from '@plinth/tsdb-model/database/names.js';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import { Type } from 'typebox';
import type { RouteDeps } from '../deps.js';
import {
  DB,
  HARD_DELETE_AT,
  INTEGER_FIELDS,
  QUERY_FORMAT,
  RESULT,
  RETENTION as RETENTION_PERIOD,
} from '../description.js';
import type { FormatName } from '../formats/index.js';
import { queryResponse } from '../query/query-response.js';
import { formatOfName } from '../query/result-format.js';
import { parseParameters, readBoolean, readParameter } from '../query-string.js';
import { parseRetention } from './human-time.js';
import type { ManagementInput } from './management-input.js';

/** Lists active databases first, then deleted ones, each sorted by name. */
const ALL_DATABASES =
  'SELECT database_name AS "iox::database", deleted FROM system.databases ORDER BY deleted, database_name';
const ACTIVE_DATABASES =
  'SELECT database_name AS "iox::database" FROM system.databases WHERE NOT deleted ORDER BY database_name';

const DATABASE = '/api/v3/configure/database';
const RETENTION = `${DATABASE}/retention_period`;

const LIST: RouteDocs = {
  summary: 'List databases',
  query: { format: QUERY_FORMAT, show_deleted: Type.Optional(Type.Boolean({ default: false })) },
  output: RESULT,
  errors: { 400: 'a parameter is invalid' },
};
const BODY = Type.Object({ ...DB, ...RETENTION_PERIOD, ...INTEGER_FIELDS });
const UNDELETE: RouteDocs = {
  summary: 'Restore a deleted database whose data still exists',
  body: Type.Object(DB),
};
const DURATION = Type.String({ description: 'such as 30d or 1h 30m' });

/** Source: tsdb-http, "Databases" and "Deletion life cycle". */
export function databaseRoutes(deps: RouteDeps): readonly Route[] {
  const { routeBuilder, catalog, engine } = deps;
  return [
    routeBuilder.get(DATABASE, LIST, (request) => {
      const { format, showDeleted } = readListing(request.url);
      const text = showDeleted ? ALL_DATABASES : ACTIVE_DATABASES;
      const query = { database: INTERNAL_DATABASE, text, params: new Map(), format };
      return queryResponse(query, request, deps);
    }),
    routeBuilder.command(
      'POST',
      DATABASE,
      { summary: 'Create a database', body: BODY },
      async (input) => {
        const { retentionNs, integerFields } = readSettings(input);
        await catalog.createDatabase(input.requiredText('db'), retentionNs, integerFields);
      },
    ),
    routeBuilder.command(
      'PUT',
      DATABASE,
      {
        summary: 'Change the retention period of a database and the type of new integer fields',
        body: BODY,
      },
      (input) => {
        const { retentionNs, integerFields } = readSettings(input);
        // InfluxDB 3 clients remove the retention period by omitting it.
        const isRetentionKept = integerFields !== undefined && !input.has('retention_period');
        return catalog.changeDatabase(input.requiredText('db'), {
          retentionNs: isRetentionKept ? undefined : (retentionNs ?? 'forever'),
          integerFields,
        });
      },
    ),
    routeBuilder.command(
      'DELETE',
      DATABASE,
      { summary: 'Delete a database', query: { ...DB, ...HARD_DELETE_AT } },
      async (input) => {
        const hardDelete = withCompatDefault(input.hardDeletion(), deps);
        await catalog.deletions.deleteDatabase(input.requiredText('db'), hardDelete);
        engine.removeDeletedSoon();
      },
      { isOfQuery: true },
    ),
    routeBuilder.command('POST', `${DATABASE}/undelete`, UNDELETE, (input) =>
      catalog.deletions.undeleteDatabase(input.requiredText('db')),
    ),
    routeBuilder.command(
      'POST',
      RETENTION,
      { summary: 'Set the retention period of a database', query: { ...DB, duration: DURATION } },
      async (input) => {
        const time = parseRetention(input.requiredText('duration'));
        if (!('ns' in time)) {
          throw tsdbError('parameter_invalid', `Cannot parse the given human time: ${time.fault}`);
        }
        await catalog.setRetention(input.requiredText('db'), time.ns);
      },
      { status: 204 },
    ),
    routeBuilder.command(
      'DELETE',
      RETENTION,
      {
        summary: 'Clear the retention period of a database; its rows are then kept forever',
        query: DB,
      },
      (input) => catalog.setRetention(input.requiredText('db'), undefined),
      { status: 204, isOfQuery: true },
    ),
  ];
}

const readSettings = (input: ManagementInput) => ({
  retentionNs: input.retention('retention_period'),
  integerFields: input.choice('integer_fields', ['integer', 'float']),
});

/**
 * Applies the compatibility profile `influxdb3`, in which an absent choice means `default`. Source: tsdb-http,
 * "Differences between the profiles", D12.
 */
export function withCompatDefault(choice: HardDeletion, { settings }: RouteDeps): HardDeletion {
  return choice.kind === 'absent' && settings.compat === 'influxdb3' ? { kind: 'default' } : choice;
}

function readListing(target: string): {
  readonly format: FormatName;
  readonly showDeleted: boolean;
} {
  const parameters = parseParameters(queryOf(target));
  const format = formatOfName(readParameter(parameters, ['format']) ?? 'json');
  // Clients of this list expect an array of rows, also in compatibility profiles whose query results have
  // another form.
  return {
    format: format === 'json' ? 'json_rows' : format,
    showDeleted: readBoolean(parameters, 'show_deleted') ?? false,
  };
}
