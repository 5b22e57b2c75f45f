import { randomBytes } from 'node:crypto';
import type { Connection } from '../connection.js';
import { quoted } from '../input/line-text.js';
import { print, printNote } from '../output/terminal.js';
import { runStatement } from '../rows/send-chunks.js';
import type { User } from './portable-backup.js';
import { tried } from './tried.js';

/**
 * Creates the users of a backup with their grants. Password hashes of 1.x cannot be used here, so each new user
 * receives a new password. Existing users keep their passwords. Prints rejected users and grants, and continues with
 * the others.
 */
export async function moveUsers(users: readonly User[], connection: Connection): Promise<void> {
  if (users.length === 0) return;
  const there = new Map(
    (await runStatement('SHOW USERS', connection)).map(([name, isAdmin]) => [name, isAdmin]),
  );
  for (const user of users) {
    const name = quoted(user.name);
    if (there.has(user.name)) {
      printNote(`user ${user.name} already exists and keeps its password\n`);
      if (user.isAdmin && there.get(user.name) !== true)
        printNote(
          `  the user was an administrator; to restore the privileges, run GRANT ALL PRIVILEGES TO ${name}\n`,
        );
    } else {
      const password = randomBytes(15).toString('base64url');
      const privileges = user.isAdmin ? ' WITH ALL PRIVILEGES' : '';
      const create = `CREATE USER ${name} WITH PASSWORD`;
      const isMade = await tried(() =>
        runStatement(`${create} '${password}'${privileges}`, connection, `${create} ...`),
      );
      if (!isMade) continue;
      print(`user ${user.name}  password ${password}\n`);
    }
    for (const { database, privilege } of user.grants) {
      const grant = `GRANT ${privilege} ON ${quoted(database)} TO ${name}`;
      await tried(() => runStatement(grant, connection));
    }
  }
}
