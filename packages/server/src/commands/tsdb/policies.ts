import { type Connection, call, databaseOf } from '../connection.js';
import { printNote } from '../output/terminal.js';

/**
 * Says which retention policies of a database are databases of their own here, since their tables are not among those of the database:
 * after a move from InfluxDB 1.x they look lost.
 */
export async function printPolicies(connection: Connection): Promise<void> {
  const name = databaseOf(connection);
  const answer = await call(connection, 'api/v3/configure/database', { query: { format: 'json' } });
  if (!answer.ok) {
    await answer.body?.cancel();
    return;
  }
  const all = (await answer.json()) as readonly Readonly<Record<string, unknown>>[];
  const names = all.map((database) => String(database['iox::database']));
  const policies = names.filter((each) => each.startsWith(`${name}/`));
  if (policies.length > 0)
    printNote(`further tables are in ${policies.join(', ')}: name one with --database\n`);
}
