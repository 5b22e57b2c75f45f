import type { FastifyInstance } from 'fastify';
import type { FieldType } from '../../model/column.js';
import type { RouteDeps } from '../deps.js';
import { jsonError } from '../query/json-request.js';
import { asAsked, managementErrors, sendDone } from './database-routes.js';
import { ManagementInput } from './management-input.js';

const FIELD_TYPES: readonly FieldType[] = ['utf8', 'int64', 'uint64', 'float64', 'bool'];
const TABLE = '/api/v3/configure/table';

/** Source: tsdb-http, "Tables" and "Deletion life cycle". */
export function registerTableRoutes(app: FastifyInstance, deps: RouteDeps): void {
  const { catalog, engine } = deps;
  const errorHandler = managementErrors(deps);
  app.post(TABLE, { errorHandler }, async (request, reply) => {
    const input = ManagementInput.of(request);
    await catalog.createTable({
      database: input.requiredText('db'),
      table: input.requiredText('table'),
      tags: input.requiredTexts('tags'),
      fields: input.objects('fields').map(readField),
    });
    return sendDone(reply);
  });
  // Of our own: a retention period of the table, before that of its database.
  app.put(TABLE, { errorHandler }, async (request, reply) => {
    const input = ManagementInput.of(request);
    await catalog.setTableRetention({
      ...tableOf(input),
      retentionNs: input.retention('retention_period'),
    });
    return sendDone(reply);
  });
  app.delete(TABLE, { errorHandler }, async (request, reply) => {
    const input = ManagementInput.ofQuery(request);
    const hardDelete = asAsked(input.hardDeletion(), deps);
    await catalog.deletions.deleteTable({ ...tableOf(input), hardDelete });
    engine.removeDeletedSoon();
    return sendDone(reply);
  });
  app.post(`${TABLE}/undelete`, { errorHandler }, async (request, reply) => {
    await catalog.deletions.undeleteTable(tableOf(ManagementInput.of(request)));
    return sendDone(reply);
  });
}

function tableOf(input: ManagementInput): { readonly database: string; readonly table: string } {
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
