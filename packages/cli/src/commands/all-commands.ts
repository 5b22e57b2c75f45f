import type { Command } from 'commander';
import { SPELLINGS } from './influxdb3/verbs.js';

/** Descriptions for the overview. The code of a command is loaded only when it runs. */
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
    description: 'query a database in SQL or InfluxQL',
    load: async () => (await import('./rows/query.js')).queryCommand(),
  },
  watch: {
    description: 'print newly written rows that match a SQL query',
    load: async () => (await import('./rows/watch.js')).watchCommand(),
  },
  database: {
    description: 'create, list, change, delete and restore databases',
    load: async () => (await import('./tsdb/database.js')).databaseCommand(),
  },
  table: {
    description: 'create, list, change, rename, delete, restore and publish tables',
    load: async () => (await import('./tsdb/table.js')).tableCommand(),
  },
  column: {
    description: 'rename tags and fields, and convert their types',
    load: async () => (await import('./tsdb/column.js')).columnCommand(),
  },
  cache: {
    description: 'create, list and delete last-value and distinct-value caches',
    load: async () => (await import('./tsdb/cache.js')).cacheCommand(),
  },
  rollup: {
    description: 'aggregate each time interval and write the results to a table',
    load: async () => (await import('./tsdb/rollup.js')).rollupCommand(),
  },
  trigger: {
    description: 'run Python plugins on writes, schedules and requests',
    load: async () => (await import('./tsdb/trigger.js')).triggerCommand(),
  },
  plugin: {
    description: 'create, test and upload Python plugins',
    load: async () => (await import('./tsdb/plugin.js')).pluginCommand(),
  },
  package: {
    description: 'install Python packages for plugins',
    load: async () => (await import('./tsdb/package.js')).packageCommand(),
  },
  import: {
    description: 'import Parquet or CSV files into a table',
    load: async () => (await import('./rows/import.js')).importCommand(),
  },
  migrate: {
    description: 'migrate data from InfluxDB, Prometheus, VictoriaMetrics and Graphite',
    load: async () => (await import('./migrate/migrate.js')).migrateCommand(),
  },
  export: {
    description: 'export a table or query result as Parquet, CSV or line protocol',
    load: async () => (await import('./rows/export.js')).exportCommand(),
  },
  backup: {
    description: 'create a consistent backup of a running server',
    load: async () => (await import('./folder/backup.js')).backupCommand(),
  },
  verify: {
    description: 'verify that a backup is complete and intact',
    load: async () => (await import('./folder/verify.js')).verifyCommand(),
  },
  restore: {
    description: 'create a data folder from a backup',
    load: async () => (await import('./folder/restore.js')).restoreCommand(),
  },
  snapshot: {
    description: 'list or restore snapshots of plinth.db',
    load: async () => (await import('./folder/snapshot.js')).snapshotCommand(),
  },
  aside: {
    description: 'list or remove quarantined files',
    load: async () => (await import('./folder/aside.js')).asideCommand(),
  },
  'support-bundle': {
    description: 'collect information for a bug report, with known secrets redacted',
    load: async () => (await import('./folder/support-bundle.js')).supportBundleCommand(),
  },
  shell: {
    description: 'open an interactive SQL or InfluxQL shell',
    load: async () => (await import('./shell.js')).shellCommand(),
  },
  token: {
    description: 'create, regenerate, list and delete tokens',
    load: async () => (await import('./services/token.js')).tokenCommand(),
  },
  identity: {
    description: 'register users, installations and OAuth apps, and create their tokens',
    load: async () => (await import('./services/identity.js')).identityCommand(),
  },
  limits: {
    description: 'inspect, test, reset and ban rate-limited identities',
    load: async () => (await import('./services/limits.js')).limitsCommand(),
  },
  ratelimit: {
    description: 'alias of `limits`',
    load: async () => (await import('./services/limits.js')).limitsCommand('ratelimit'),
  },
  app: {
    description: 'register apps and manage their keys and webhooks',
    load: async () => (await import('./services/app.js')).appCommand(),
  },
  event: {
    description: 'publish events to app webhooks',
    load: async () => (await import('./services/event.js')).eventCommand(),
  },
  deliveries: {
    description: 'list, show and redeliver deliveries',
    load: async () => (await import('./services/deliveries.js')).deliveriesCommand(),
  },
  webhook: {
    description: 'receive deliveries on this machine and list those of an app',
    load: async () => (await import('./services/webhook.js')).webhookCommand(),
  },
  status: {
    description: 'show health, version and databases of a server',
    load: async () => (await import('./status.js')).statusCommand(),
  },
  accounts: {
    description: 'manage platforms, keys and accounts',
    load: async () => (await import('./services/accounts.js')).accountsCommand(),
  },
  gamedata: {
    description: 'generate, import, export, validate and publish game data',
    load: async () => (await import('./services/gamedata.js')).gamedataCommand(),
  },
  version: {
    description: 'show version, commit and build of this program',
    load: async () => (await import('./version.js')).versionCommand(),
  },
  completion: {
    description: 'print a completion script for bash, zsh or fish',
    load: async () => (await import('./completion.js')).completionCommand(allCommands),
  },
} as const;

/** Verbs of `influxdb3`, mapped to the commands above. */
export const VERBS = Object.fromEntries(
  Object.keys(SPELLINGS).map((verb) => [
    verb,
    {
      load: async () =>
        (await import('./influxdb3/verb-command.js')).verbCommand(verb, () => COMMANDS),
    },
  ]),
);

/** Returns all commands by name, with all their options. */
export async function allCommands(): Promise<ReadonlyMap<string, Command>> {
  const { serveCommand } = await import('./folder/serve.js');
  const commands = new Map<string, Command>();
  for (const [name, { load }] of [...Object.entries(COMMANDS), ...Object.entries(VERBS)])
    commands.set(name, name === 'serve' ? serveCommand(['--help-all']) : await load());
  return commands;
}
