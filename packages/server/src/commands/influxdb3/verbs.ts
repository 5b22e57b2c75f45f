/** A spelling that stands for a command of ours. */
interface Alias {
  /** The command, with options that make it the same. */
  readonly means: readonly string[];
  /**
   * Its options that have another name here; an empty one: its value is the argument. All others are passed on as they are.
   */
  readonly options?: Readonly<Record<string, string>>;
  /** Words that are another one here, whatever option they are of. */
  readonly values?: Readonly<Record<string, string>>;
  /** Its options that have nothing here, and what to do instead. */
  readonly without?: Readonly<Record<string, string>>;
  /** Option of ours that its argument belongs to. */
  readonly argument?: string;
  /** What has to be said, though our command does without: one of these. */
  readonly needs?: readonly string[];
}

/** A spelling without a counterpart, and what to do instead. */
interface Missing {
  readonly no: string;
}

export type Spelling = Alias | Missing;

const CACHE = { '-t': '--table' };
const NO_FILE = { '--output': 'send what is printed to a file: > FILE' };
const OF_SERVER = 'it is a setting of the server here: docs/SETTINGS.md';
const FILE_INDEX = 'files are found by the statistics in them, without an index';
const PLUGIN =
  'a plugin is a file here: `plinth plugin upload FILE` brings it, and triggers name it';
const QUERY_GROUP =
  'queries take turns, in no groups (docs/SETTINGS.md, tsdb.max_concurrent_queries)';
const NODE = 'a node ends with its process (SIGTERM), and others go on with what it had';
const LICENSE = 'every part is free to use';
const NO_UPLOAD = 'first `plinth plugin upload FILE`, then name it with --path';

/**
 * What `influxdb3` is told, by its first two words, and what that is here.
 * Source: the reference of the influxdb3 command line (Core and Enterprise 3.x), one row for each of its commands.
 */
export const SPELLINGS: Readonly<Record<string, Readonly<Record<string, Spelling>>>> = {
  create: {
    database: { means: ['database', 'create'] },
    table: { means: ['table', 'create'] },
    token: {
      means: ['token', 'create'],
      without: {
        '--regenerate': 'say `plinth token regenerate`',
        '--offline': 'say `plinth token generate --file`',
        '--format': 'the token alone is printed, for scripts',
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
        '--node-spec': 'every node may run it: leave it out',
      },
    },
    last_cache: {
      means: ['cache', 'create', '--kind', 'last'],
      options: { ...CACHE, '--key-columns': '--columns', '--value-columns': '--values' },
      without: { '--node-spec': 'every node has it: leave it out' },
      argument: '--name',
    },
    distinct_cache: {
      means: ['cache', 'create', '--kind', 'distinct'],
      options: { ...CACHE, '--column': '--columns' },
      without: { '--node-spec': 'every node has it: leave it out' },
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
      // Lists are arrays, as those of other commands.
      values: { json: 'json_rows' },
    },
    retention: {
      no: "ask for it: plinth query -d _internal 'SELECT database_name, retention_period_ns FROM system.databases'",
    },
    system: {
      no: "ask the table: plinth query -d DATABASE 'SELECT * FROM system.TABLE LIMIT 10'; SHOW TABLES names them",
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
      no: '`plinth enable trigger` and `disable trigger` switch one; for all else delete it and create it again',
    },
    query_group: { no: QUERY_GROUP },
  },
  delete: {
    database: {
      means: ['database', 'delete'],
      without: {
        '--data-only': 'delete the rows of each table by POST /api/v2/delete',
        '--remove-tables': 'delete the tables: `plinth table delete`',
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
    plugin: { no: 'a plugin is a file here: remove it from the plugin folder of the server' },
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
    'object-store-check': { no: 'a start looks whether its store can be written, and says so' },
    'verify-references': { no: 'say `plinth verify --data-dir FOLDER` while no server runs' },
    sweep: { no: 'say `plinth aside --data-dir FOLDER`' },
  },
  stop: { node: { no: NODE } },
  remove: { node: { no: NODE } },
  activate: { license: { no: LICENSE } },
  // Whole commands.
  q: { '': { means: ['query'], options: { '-f': '--file' } } },
  w: { '': { means: ['write'], options: { '-f': '--file' } } },
};

/** What no command has here. */
export const WITHOUT: Readonly<Record<string, string>> = {
  '--tls-no-verify':
    'a token would go to whoever answers: name the certificate that is right with --tls-ca FILE',
};
