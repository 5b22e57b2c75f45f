import { jsonResponse, OpenApi, type Route, type RouteDocs } from '@plinth/kernel';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import { Type } from 'typebox';
import {
  REFERENCE_KINDS,
  type References,
  referencesTo,
} from '../../domain/schema-references/schema-references.js';
import type { RouteDeps } from '../deps.js';
import { MANAGEMENT_FAILED, TABLE as NAMED } from '../description.js';
import { ManagementInput } from './management-input.js';
import { tableOf } from './table-routes.js';

const { response, json, oneOf } = OpenApi;
const TABLE = '/api/v3/configure/table';
const COLUMN = '/api/v3/configure/column';

const NEW_NAME = {
  new_name: Type.String({ minLength: 1 }),
  dry_run: Type.Optional(
    Type.Boolean({
      description: 'check the names and list the references without renaming anything',
    }),
  ),
};
export const ListedReferences = Type.Array(
  Type.Object({
    kind: oneOf(REFERENCE_KINDS),
    name: Type.String(),
    id: Type.Optional(Type.String({ description: 'of a saved query' })),
  }),
);
const RENAMED = {
  200: response(
    'the references to the former name',
    json(
      Type.Object({
        dry_run: Type.Boolean(),
        follows: ListedReferences,
        needs_change: ListedReferences,
      }),
    ),
  ),
};
const ERRORS = {
  ...MANAGEMENT_FAILED,
  400: 'a name is missing or invalid',
  404: 'database, table or column not found',
  409: 'the new name is in use, or is a former name of another table or column',
  422: 'the limit of former names is reached',
};

const RENAME_TABLE: RouteDocs = {
  summary: 'Rename a table without rewriting files',
  body: Type.Object({ ...NAMED, ...NEW_NAME }),
  output: RENAMED,
  errors: ERRORS,
};
const RENAME_COLUMN: RouteDocs = {
  summary: 'Rename a tag or field without rewriting files',
  body: Type.Object({ ...NAMED, column: Type.String({ minLength: 1 }), ...NEW_NAME }),
  output: RENAMED,
  errors: ERRORS,
};
const FORGET: RouteDocs = {
  summary: 'Free the former name of a renamed table for a new table',
  body: Type.Object({
    ...NAMED,
    table: Type.String({ description: 'former name of the table' }),
  }),
};

/** Source: tsdb-http, "Renames". */
export function renameRoutes(deps: RouteDeps): readonly Route[] {
  const { routeBuilder, catalog } = deps;
  const { renames } = catalog;
  return [
    routeBuilder.send('POST', `${TABLE}/rename`, RENAME_TABLE, async (request) => {
      const input = ManagementInput.of(request);
      const rename = { ...tableOf(input), newName: input.requiredText('new_name') };
      const table = renames.checkTable(rename);
      return await changed(deps, input, { database: rename.database, table }, () =>
        renames.renameTable(rename),
      );
    }),
    routeBuilder.send('POST', `${COLUMN}/rename`, RENAME_COLUMN, async (request) => {
      const input = ManagementInput.of(request);
      const column = input.requiredText('column');
      const rename = { ...tableOf(input), column, newName: input.requiredText('new_name') };
      const found = renames.checkColumn(rename);
      return await changed(deps, input, { database: rename.database, ...found }, () =>
        renames.renameColumn(rename),
      );
    }),
    routeBuilder.command('POST', `${TABLE}/forget_name`, FORGET, (input) =>
      renames.forgetName(tableOf(input)),
    ),
  ];
}

/** Lists the references before the change. A dry run does not make the change. */
async function changed(
  deps: RouteDeps,
  input: ManagementInput,
  to: Omit<Parameters<typeof referencesTo>[1], 'database'> & { readonly database: string },
  change: () => Promise<void>,
) {
  const database = deps.catalog.database(to.database);
  if (database === undefined) throw tsdbError('database_not_known', { database: to.database });
  const dry_run = input.flag('dry_run') ?? false;
  const references: References = await referencesTo(deps, { ...to, database });
  if (!dry_run) await change();
  return jsonResponse(200, { dry_run, ...references });
}
