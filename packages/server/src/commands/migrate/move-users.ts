import { randomBytes } from 'node:crypto';
import type { Connection } from '../connection.js';
import { quoted } from '../input/line-text.js';
import { CommandFailed, EXIT } from '../output/exit.js';
import { print, printNote } from '../output/terminal.js';
import { runStatement } from '../rows/send-chunks.js';
import type { User } from './portable-backup.js';

/**
 * Makes the users of a backup with their grants. 1.x keeps passwords as hashes of its own, so each new user gets a new one; users
 * that are there keep theirs. What the server refuses is told, and the others come all the same.
 */
export async function moveUsers(users: readonly User[], connection: Connection): Promise<void> {
  if (users.length === 0) return;
  const there = new Map(
    (await runStatement('SHOW USERS', connection)).map(([name, isAdmin]) => [name, isAdmin]),
  );
  for (const user of users) {
    const name = quoted(user.name);
    if (there.has(user.name)) {
      printNote(`user ${user.name} is there already and keeps its password\n`);
      if (user.isAdmin && there.get(user.name) !== true)
        printNote(`  it was an administrator: GRANT ALL PRIVILEGES TO ${name} makes it one here\n`);
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

/** @returns whether the server took it; what it refuses makes the command a failure at its end. */
async function tried(run: () => Promise<unknown>): Promise<boolean> {
  try {
    await run();
    return true;
  } catch (error) {
    if (!(error instanceof CommandFailed && error.exitCode === EXIT.failed)) throw error;
    printNote(`${error.message}\n`);
    process.exitCode = EXIT.failed;
    return false;
  }
}
