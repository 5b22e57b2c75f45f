import type { Command } from 'commander';
import { SPELLINGS } from './influxdb3/verbs.js';

/** One line each for the overview; the code of a command is loaded only when it runs. */
export const COMMANDS = {
  serve: {
    description: 'run the server',
    load: async () => (await import('./folder/serve.js')).serveCommand(process.argv.slice(3)),
  },
  write: {
    description: 'write line protocol or CSV from files or standard input',
    load: async () => (await import('./rows/write.js')).writeCommand(),
  },
  query: {
    description: 'ask a question in SQL or InfluxQL',
    load: async () => (await import('./rows/query.js')).queryCommand(),
  },
  database: {
    description: 'create, list, change, delete and restore databases',
    load: async () => (await import('./tsdb/database.js')).databaseCommand(),
  },
  table: {
    description: 'create, list, change, delete and restore tables',
    load: async () => (await import('./tsdb/table.js')).tableCommand(),
  },
  cache: {
    description: 'create, list and delete last-value and distinct-value caches',
    load: async () => (await import('./tsdb/cache.js')).cacheCommand(),
  },
  trigger: {
    description: 'run Python plugins on writes, schedules and requests',
    load: async () => (await import('./tsdb/trigger.js')).triggerCommand(),
  },
  plugin: {
    description: 'begin, try out and upload Python plugins',
    load: async () => (await import('./tsdb/plugin.js')).pluginCommand(),
  },
  package: {
    description: 'install Python packages for plugins',
    load: async () => (await import('./tsdb/package.js')).packageCommand(),
  },
  import: {
    description: 'read files of Parquet or CSV into a table',
    load: async () => (await import('./rows/import.js')).importCommand(),
  },
  migrate: {
    description: 'move data in from InfluxDB 1.x and 2.x, Prometheus, VictoriaMetrics and Graphite',
    load: async () => (await import('./migrate/migrate.js')).migrateCommand(),
  },
  export: {
    description: 'write a table or an answer to a file: Parquet, CSV, line protocol',
    load: async () => (await import('./rows/export.js')).exportCommand(),
  },
  backup: {
    description: 'copy the state of one moment from a running server into a folder',
    load: async () => (await import('./folder/backup.js')).backupCommand(),
  },
  verify: {
    description: 'check that a backup is whole',
    load: async () => (await import('./folder/verify.js')).verifyCommand(),
  },
  restore: {
    description: 'make a data folder from a backup',
    load: async () => (await import('./folder/restore.js')).restoreCommand(),
  },
  snapshot: {
    description: 'list or restore snapshots of plinth.db',
    load: async () => (await import('./folder/snapshot.js')).snapshotCommand(),
  },
  aside: {
    description: 'list or remove stored files that a start has moved aside',
    load: async () => (await import('./folder/aside.js')).asideCommand(),
  },
  shell: {
    description: 'ask questions in SQL or InfluxQL one after the other',
    load: async () => (await import('./shell.js')).shellCommand(),
  },
  token: {
    description: 'create, regenerate, list and delete tokens',
    load: async () => (await import('./services/token.js')).tokenCommand(),
  },
  identity: {
    description: 'register users, installations and OAuth apps, and give them tokens',
    load: async () => (await import('./services/identity.js')).identityCommand(),
  },
  limits: {
    description: 'see, ask, reset and ban what is limited',
    load: async () => (await import('./services/limits.js')).limitsCommand(),
  },
  ratelimit: {
    description: 'another name of `limits`',
    load: async () => (await import('./services/limits.js')).limitsCommand('ratelimit'),
  },
  app: {
    description: 'register apps, and manage their keys and webhooks',
    load: async () => (await import('./services/app.js')).appCommand(),
  },
  event: {
    description: 'publish events to the webhooks of apps',
    load: async () => (await import('./services/event.js')).eventCommand(),
  },
  deliveries: {
    description: 'look at what was delivered, and deliver it again',
    load: async () => (await import('./services/deliveries.js')).deliveriesCommand(),
  },
  webhook: {
    description: 'receive deliveries on this machine, and look at those of an app',
    load: async () => (await import('./services/webhook.js')).webhookCommand(),
  },
  status: {
    description: 'health, version and databases of a server',
    load: async () => (await import('./status.js')).statusCommand(),
  },
  accounts: {
    description: 'platforms, keys and accounts: list, show, close, tick, rotate-key',
    load: async () => (await import('./services/accounts.js')).accountsCommand(),
  },
  gamedata: {
    description: 'game data: generate, import, export, validate, publish',
    load: async () => (await import('./services/gamedata.js')).gamedataCommand(),
  },
  version: {
    description: 'version, commit and build of this program',
    load: async () => (await import('./version.js')).versionCommand(),
  },
  completion: {
    description: 'print a completion script for bash, zsh or fish',
    load: async () => (await import('./completion.js')).completionCommand(allCommands),
  },
} as const;

/** Verbs of `influxdb3`, which stand for these. */
export const VERBS = Object.fromEntries(
  Object.keys(SPELLINGS).map((verb) => [
    verb,
    {
      load: async () =>
        (await import('./influxdb3/verb-command.js')).verbCommand(verb, () => COMMANDS),
    },
  ]),
);

/** With all that may be said to each, by their names. */
export async function allCommands(): Promise<ReadonlyMap<string, Command>> {
  const { serveCommand } = await import('./folder/serve.js');
  const commands = new Map<string, Command>();
  for (const [name, { load }] of [...Object.entries(COMMANDS), ...Object.entries(VERBS)])
    commands.set(name, name === 'serve' ? serveCommand(['--help']) : await load());
  return commands;
}
