import { assertNever } from '@plinth/kernel';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import type { DatabaseSchema } from '@plinth/tsdb-model/schema.js';
import type { UserStatement } from '../ast/statements.js';
import type { Value } from '../plan/data-type.js';
import {
  EMPTY_RESULT,
  emptyResult,
  listResult,
  type ResultColumn,
  type StatementResult,
  textColumn,
} from '../result.js';
import type { UserDirectory } from './user-directory.js';

/**
 * Runs statements about users and their privileges. Source: InfluxDB 1.x, "Authentication and
 * authorization".
 */
export async function runUsers(
  statement: UserStatement,
  users: UserDirectory,
  databaseOf: (name: string) => DatabaseSchema | undefined,
): Promise<StatementResult> {
  switch (statement.kind) {
    case 'create_user':
      await users.create(statement);
      return EMPTY_RESULT;
    case 'drop_user':
      await users.drop(statement.user);
      return EMPTY_RESULT;
    case 'set_password':
      await users.setPassword(statement.user, statement.password);
      return EMPTY_RESULT;
    case 'set_administrator':
      await users.setAdministrator(statement.user, statement.isAdministrator);
      return EMPTY_RESULT;
    case 'grant': {
      const { user, database, actions } = statement;
      users.grantsOf(user); // Report an unknown user before an unknown database.
      if (databaseOf(database) === undefined) throw tsdbError('database_not_found', { database });
      await users.grant(user, database, actions);
      return EMPTY_RESULT;
    }
    case 'revoke':
      await users.revoke(statement.user, statement.database, statement.actions);
      return EMPTY_RESULT;
    case 'show_users':
      return listed(
        [textColumn('user'), { name: 'admin', type: 'boolean' }],
        users.list().map(({ name, isAdministrator }) => [name, isAdministrator]),
      );
    case 'show_grants':
      return listed(
        [textColumn('database'), textColumn('privilege')],
        users
          .grantsOf(statement.user)
          .map(({ database, actions }) => [
            database,
            actions.length > 1 ? 'ALL PRIVILEGES' : (actions[0] ?? '').toUpperCase(),
          ]),
      );
    default:
      return assertNever(statement);
  }
}

const listed = (columns: readonly ResultColumn[], rows: readonly Value[][]): StatementResult =>
  rows.length === 0 ? emptyResult(columns, ['']) : listResult(columns, [{ name: '', rows }]);
