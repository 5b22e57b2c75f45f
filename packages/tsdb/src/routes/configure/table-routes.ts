import { OpenApi, type Route, type RouteDocs } from '@plinth/kernel';
import type { FieldType } from '@plinth/tsdb-model/columns/column.js';
import { Type } from 'typebox';
import type { RouteDeps } from '../deps.js';
import { HARD_DELETE_AT, TABLE as NAMED, RETENTION } from '../description.js';
import { jsonError } from '../query/json-request.js';
import { withCompatDefault } from './database-routes.js';
import type { ManagementInput } from './management-input.js';

const FIELD_TYPES: readonly FieldType[] = ['utf8', 'int64', 'uint64', 'float64', 'bool'];
const TABLE = '/api/v3/configure/table';

const CREATE: RouteDocs = {
  summary: 'Create a table',
  body: Type.Object({
    ...NAMED,
    tags: Type.Array(Type.String()),
    fields: Type.Optional(
      Type.Array(Type.Object({ name: Type.String(), type: OpenApi.oneOf(FIELD_TYPES) })),
    ),
  }),
};
const KEEP: RouteDocs = {
  summary: 'Set or clear the retention period of a table',
  body: Type.Object({ ...NAMED, ...RETENTION }),
};
const UNDELETE: RouteDocs = {
  summary: 'Restore a deleted table whose data still exists',
  body: Type.Object(NAMED),
};

/** Source: tsdb-http, "Tables" and "Deletion life cycle". */
export function tableRoutes(deps: RouteDeps): readonly Route[] {
  const { routeBuilder, catalog, engine } = deps;
  return [
    routeBuilder.command('POST', TABLE, CREATE, (input) =>
      catalog.createTable({
        ...tableOf(input),
        tags: input.requiredTexts('tags'),
        fields: input.objects('fields').map(readField),
      }),
    ),
    // Not part of InfluxDB: a retention period of the table, which overrides the period of its database.
    routeBuilder.command('PUT', TABLE, KEEP, (input) =>
      catalog.setTableRetention({
        ...tableOf(input),
        retentionNs: input.retention('retention_period'),
      }),
    ),
    routeBuilder.command(
      'DELETE',
      TABLE,
      { summary: 'Delete a table', query: { ...NAMED, ...HARD_DELETE_AT } },
      async (input) => {
        const hardDelete = withCompatDefault(input.hardDeletion(), deps);
        await catalog.deletions.deleteTable({ ...tableOf(input), hardDelete });
        engine.removeDeletedSoon();
      },
      { isOfQuery: true },
    ),
    routeBuilder.command('POST', `${TABLE}/undelete`, UNDELETE, (input) =>
      catalog.deletions.undeleteTable(tableOf(input)),
    ),
  ];
}

export function tableOf(input: ManagementInput): {
  readonly database: string;
  readonly table: string;
} {
  return { database: input.requiredText('db'), table: input.requiredText('table') };
}

function readField(field: Readonly<Record<string, unknown>>): {
  readonly name: string;
  readonly type: FieldType;
} {
  const [name, typeName] = [fieldText(field, 'name'), fieldText(field, 'type')];
  const type = FIELD_TYPES.find((known) => known === typeName);
  if (type !== undefined) return { name, type };
  const expected = FIELD_TYPES.map((known) => `\`${known}\``).join(', ');
  throw jsonError(`unknown variant \`${typeName}\`, expected one of ${expected}`);
}

function fieldText(field: Readonly<Record<string, unknown>>, name: string): string {
  const value = Object.hasOwn(field, name) ? field[name] : undefined;
  if (typeof value === 'string') return value;
  if (value === undefined) throw jsonError(`missing field \`${name}\``);
  throw jsonError(`invalid type for field \`${name}\`, expected a string`);
}
