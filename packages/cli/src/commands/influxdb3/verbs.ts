/** An `influxdb3` command that has an equivalent plinth command. */
interface Alias {
  /** The plinth command, with the options that make it equivalent. */
  readonly means: readonly string[];
  /** Options with a different name here. An empty name makes the value the argument. Other options are passed unchanged. */
  readonly options?: Readonly<Record<string, string>>;
  /** Values with a different name here, for any option. */
  readonly values?: Readonly<Record<string, string>>;
  /** Options without an equivalent, each with the alternative. */
  readonly without?: Readonly<Record<string, string>>;
  /** The plinth option that receives the argument. */
  readonly argument?: string;
  /** Required by `influxdb3` but optional here: one of these must be given. */
  readonly needs?: readonly string[];
}

/** An `influxdb3` command without an equivalent, and the alternative. */
interface Missing {
  readonly no: string;
}

export type Spelling = Alias | Missing;

const CACHE = { '-t': '--table' };
const NO_FILE = { '--output': 'redirect the output to a file with > FILE' };
const OF_SERVER = 'this is a server setting; see docs/SETTINGS.md';
const FILE_INDEX = 'files are selected by their statistics, without an index';
const PLUGIN =
  'plugins are files; upload one with `plinth plugin upload FILE`, then create a trigger for it';
const QUERY_GROUP =
  'all queries share one queue; see tsdb.max_concurrent_queries in docs/SETTINGS.md';
const NODE = 'stop the node with SIGTERM; nodes do not share time series, so keep its data folder';
const LICENSE = 'no license is required';
const NO_UPLOAD = 'run `plinth plugin upload FILE` first, then use --path';

/**
 * Maps `influxdb3` commands, by their first two words, to plinth commands.
 * Source: the reference of the influxdb3 command line (Core and Enterprise 3.x), one row per command.
 */
export const SPELLINGS: Readonly<Record<string, Readonly<Record<string, Spelling>>>> = {
  create: {
    database: { means: ['database', 'create'] },
    table: { means: ['table', 'create'] },
    token: {
      means: ['token', 'create'],
      without: {
        '--regenerate': 'use `plinth token regenerate`',
        '--offline': 'use `plinth token generate --file`',
        '--format': 'only the token is printed, for scripts',
      },
    },
    trigger: {
      means: ['trigger', 'create'],
      options: {
        '--path': '--plugin',
        '-p': '--plugin',
        '--plugin-filename': '--plugin',
        '--trigger-spec': '--spec',
        '--trigger-arguments': '--args',
        '--error-behavior': '--on-error',
        '--run-asynchronous': '--async',
      },
      without: {
        '--upload': NO_UPLOAD,
        '--node-spec': 'omit this option; every node can run the trigger',
      },
    },
    last_cache: {
      means: ['cache', 'create', '--kind', 'last'],
      options: { ...CACHE, '--key-columns': '--columns', '--value-columns': '--values' },
      without: { '--node-spec': 'omit this option; every node has the cache' },
      argument: '--name',
    },
    distinct_cache: {
      means: ['cache', 'create', '--kind', 'distinct'],
      options: { ...CACHE, '--column': '--columns' },
      without: { '--node-spec': 'omit this option; every node has the cache' },
      argument: '--name',
    },
    file_index: { no: FILE_INDEX },
    plugin: { no: PLUGIN },
    query_group: { no: QUERY_GROUP },
  },
  show: {
    databases: { means: ['database', 'list'], without: NO_FILE },
    tokens: { means: ['token', 'list'], without: NO_FILE },
    plugins: { means: ['plugin', 'list'], without: NO_FILE },
    nodes: {
      means: ['query', '--database', '_internal', 'SELECT * FROM system.nodes'],
      // These lists are JSON arrays, as in other commands.
      values: { json: 'json_rows' },
    },
    retention: {
      no: "use `plinth query -d _internal 'SELECT database_name, retention_period_ns FROM system.databases'`",
    },
    system: {
      no: "use `plinth query -d DATABASE 'SELECT * FROM system.TABLE LIMIT 10'`; SHOW TABLES lists the system tables",
    },
    license: { no: LICENSE },
    query_groups: { no: QUERY_GROUP },
  },
  update: {
    database: {
      means: ['database', 'update'],
      options: { '--database': '', '-d': '', '-r': '--retention-period' },
    },
    table: { means: ['table', 'update'], options: { '-r': '--retention-period' } },
    trigger: {
      no: 'use `plinth enable trigger` and `plinth disable trigger`; for other changes, delete the trigger and create it again',
    },
    query_group: { no: QUERY_GROUP },
  },
  delete: {
    database: {
      means: ['database', 'delete'],
      without: {
        '--data-only': 'delete the rows of each table with POST /api/v2/delete',
        '--remove-tables': 'delete the tables with `plinth table delete`',
      },
    },
    table: { means: ['table', 'delete'] },
    token: { means: ['token', 'delete'], options: { '--token-name': '' } },
    trigger: { means: ['trigger', 'delete'] },
    last_cache: {
      means: ['cache', 'delete', '--kind', 'last'],
      options: CACHE,
      argument: '--name',
    },
    distinct_cache: {
      means: ['cache', 'delete', '--kind', 'distinct'],
      options: CACHE,
      argument: '--name',
    },
    file_index: { no: FILE_INDEX },
    plugin: {
      no: 'plugins are files; remove the plugin file from the plugin folder of the server',
    },
    query_group: { no: QUERY_GROUP },
  },
  enable: { trigger: { means: ['trigger', 'enable'] } },
  disable: { trigger: { means: ['trigger', 'disable'] } },
  install: {
    package: {
      means: ['package', 'install'],
      without: {
        '--plugin-dir': OF_SERVER,
        '--virtual-env-location': OF_SERVER,
        '--package-manager': OF_SERVER,
        '--plugin-repo': OF_SERVER,
      },
    },
  },
  test: {
    wal_plugin: {
      means: ['plugin', 'test'],
      options: { '--file': '--lp', '--input-arguments': '--args', '--cache-name': '--cache' },
      needs: ['--lp'],
    },
    schedule_plugin: {
      means: ['plugin', 'test'],
      options: { '--input-arguments': '--args', '--cache-name': '--cache' },
    },
  },
  debug: {
    'object-store-check': { no: 'the server checks at startup that its storage is writable' },
    'verify-references': {
      no: 'use `plinth verify --data-dir FOLDER` while the server is stopped',
    },
    sweep: { no: 'use `plinth aside --data-dir FOLDER`' },
  },
  stop: { node: { no: NODE } },
  remove: { node: { no: NODE } },
  activate: { license: { no: LICENSE } },
  // Aliases of complete commands.
  q: { '': { means: ['query'], options: { '-f': '--file' } } },
  w: { '': { means: ['write'], options: { '-f': '--file' } } },
};

/** Options that no command supports here, each with the alternative. */
export const WITHOUT: Readonly<Record<string, string>> = {
  '--tls-no-verify':
    'without verification, any server could receive the token; trust a certificate with --tls-ca FILE',
};
