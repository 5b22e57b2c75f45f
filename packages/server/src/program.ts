import { Command } from 'commander';
import { EXIT, endWith } from './commands/output/exit.js';
import { readVersion } from './product-version.js';
import { endStoreThread } from './store-thread.js';

/** One line each for the overview; the code of a command is loaded only when it runs. */
const COMMANDS = {
  serve: {
    description: 'run the server',
    load: async () =>
      (await import('./commands/folder/serve.js')).serveCommand(process.argv.slice(3)),
  },
  write: {
    description: 'write line protocol or CSV from files or standard input',
    load: async () => (await import('./commands/rows/write.js')).writeCommand(),
  },
  query: {
    description: 'ask a question in SQL or InfluxQL',
    load: async () => (await import('./commands/rows/query.js')).queryCommand(),
  },
  database: {
    description: 'create, list, change, delete and restore databases',
    load: async () => (await import('./commands/tsdb/database.js')).databaseCommand(),
  },
  table: {
    description: 'create, list, change, delete and restore tables',
    load: async () => (await import('./commands/tsdb/table.js')).tableCommand(),
  },
  cache: {
    description: 'create, list and delete last-value and distinct-value caches',
    load: async () => (await import('./commands/tsdb/cache.js')).cacheCommand(),
  },
  trigger: {
    description: 'run Python plugins on writes, schedules and requests',
    load: async () => (await import('./commands/tsdb/trigger.js')).triggerCommand(),
  },
  plugin: {
    description: 'begin, try out and upload Python plugins',
    load: async () => (await import('./commands/tsdb/plugin.js')).pluginCommand(),
  },
  package: {
    description: 'install Python packages for plugins',
    load: async () => (await import('./commands/tsdb/package.js')).packageCommand(),
  },
  import: {
    description: 'read files of Parquet or CSV into a table',
    load: async () => (await import('./commands/rows/import.js')).importCommand(),
  },
  export: {
    description: 'write a table or an answer to a file: Parquet, CSV, line protocol',
    load: async () => (await import('./commands/rows/export.js')).exportCommand(),
  },
  backup: {
    description: 'copy the state of one moment from a running server into a folder',
    load: async () => (await import('./commands/folder/backup.js')).backupCommand(),
  },
  verify: {
    description: 'check that a backup is whole',
    load: async () => (await import('./commands/folder/verify.js')).verifyCommand(),
  },
  restore: {
    description: 'make a data folder from a backup',
    load: async () => (await import('./commands/folder/restore.js')).restoreCommand(),
  },
  aside: {
    description: 'list or remove stored files that a start has moved aside',
    load: async () => (await import('./commands/folder/aside.js')).asideCommand(),
  },
  shell: {
    description: 'ask questions in SQL or InfluxQL one after the other',
    load: async () => (await import('./commands/shell.js')).shellCommand(),
  },
  token: {
    description: 'create, regenerate, list and delete tokens',
    load: async () => (await import('./commands/services/token.js')).tokenCommand(),
  },
  identity: {
    description: 'register users, installations and OAuth apps, and give them tokens',
    load: async () => (await import('./commands/services/identity.js')).identityCommand(),
  },
  limits: {
    description: 'see, ask, reset and ban what is limited',
    load: async () => (await import('./commands/services/limits.js')).limitsCommand(),
  },
  ratelimit: {
    description: 'another name of `limits`',
    load: async () => (await import('./commands/services/limits.js')).limitsCommand('ratelimit'),
  },
  app: {
    description: 'register apps, and manage their keys and webhooks',
    load: async () => (await import('./commands/services/app.js')).appCommand(),
  },
  event: {
    description: 'publish events to the webhooks of apps',
    load: async () => (await import('./commands/services/event.js')).eventCommand(),
  },
  deliveries: {
    description: 'look at what was delivered, and deliver it again',
    load: async () => (await import('./commands/services/deliveries.js')).deliveriesCommand(),
  },
  webhook: {
    description: 'receive deliveries on this machine',
    load: async () => (await import('./commands/services/webhook.js')).webhookCommand(),
  },
  status: {
    description: 'health, version and databases of a server',
    load: async () => (await import('./commands/status.js')).statusCommand(),
  },
  accounts: {
    description: 'platforms, keys and accounts: list, show, close, tick, rotate-key',
    load: async () => (await import('./commands/services/accounts.js')).accountsCommand(),
  },
  gamedata: {
    description: 'game data: generate, import, export, validate, publish',
    load: async () => (await import('./commands/services/gamedata.js')).gamedataCommand(),
  },
  version: {
    description: 'version, commit and build of this program',
    load: async () => (await import('./commands/version.js')).versionCommand(),
  },
  completion: {
    description: 'print a completion script for bash, zsh or fish',
    load: async () => (await import('./commands/completion.js')).completionCommand(),
  },
} as const;

const EXAMPLES = `
Examples:
  plinth serve --data-dir ./data
  plinth token create
  plinth write --database home readings.lp
  plinth query --database home 'SELECT * FROM readings LIMIT 5'

Connection (all commands but serve and completion): --host, --database, --token, or in the environment
PLINTH_HOST_URL, PLINTH_DATABASE_NAME, PLINTH_AUTH_TOKEN; the same names with INFLUXDB3_ are understood.

Exit codes: 0 done, 1 failed or done in part, 2 wrong usage, 3 server not reachable, 4 not authenticated.`;

/** Runs one command line; the exit code is set, the process ends when nothing is left to do. */
async function main(argv: readonly string[]): Promise<void> {
  const program = new Command('plinth')
    .description('One server for the services a platform stands on.')
    .version(readVersion())
    .addHelpText('after', EXAMPLES)
    .exitOverride();
  const wanted = argv[2];
  for (const [name, { description, load }] of Object.entries(COMMANDS)) {
    if (name === wanted) program.addCommand(inherit(await load(), program));
    else program.command(name).description(description);
  }
  await program.parseAsync(argv);
}

/** Subcommands made elsewhere do not inherit by themselves that wrong usage is an exception. */
function inherit(command: Command, parent: Command): Command {
  command.copyInheritedSettings(parent).exitOverride();
  for (const child of command.commands) inherit(child, command);
  return command;
}

// A reader that has seen enough (`| head`) closes the pipe; that is its right and no failure.
process.stdout.on('error', (error) => {
  if (Reflect.get(error, 'code') !== 'EPIPE') throw error;
});

// A process ends when nothing is left that could wake it, also in the middle of a command: that is no success.
let hasEnded = false;
process.on('exit', (code) => {
  if (hasEnded || code !== 0) return;
  process.stderr.write('plinth: ended before the command was done\n');
  process.exitCode = EXIT.failed;
});

main(process.argv)
  .catch(endWith)
  .finally(() => {
    hasEnded = true;
    return endStoreThread();
  });
