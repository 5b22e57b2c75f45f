import { type Connection, call, databaseOf } from '../connection.js';
import { printNote } from '../output/terminal.js';

/**
 * Prints the databases that contain the retention policies of this database. After a migration from InfluxDB 1.x their tables
 * would otherwise seem lost.
 */
export async function printPolicies(connection: Connection): Promise<void> {
  const name = databaseOf(connection);
  const response = await call(connection, 'api/v3/configure/database', {
    query: { format: 'json' },
  });
  if (!response.ok) {
    await response.body?.cancel();
    return;
  }
  const all = (await response.json()) as readonly Readonly<Record<string, unknown>>[];
  const names = all.map((database) => String(database['iox::database']));
  const policies = names.filter((each) => each.startsWith(`${name}/`));
  if (policies.length > 0)
    printNote(`more tables in ${policies.join(', ')}; use --database to list them\n`);
}
