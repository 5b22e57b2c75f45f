import { CreateNamedToken, DeleteToken, TokenObject } from '@plinth/identity';
import { type TSchema, Type } from 'typebox';

/** OpenAPI 3.1 of the time-series service and its tokens, as far as it is served. Source: tsdb-http. */
export function describeTimeSeriesApi(): object {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Plinth time-series service',
      version: '0.1.0',
      description:
        'Writes by line protocol, SQL, InfluxQL, databases, caches, Python plugins, tokens. Compatible with InfluxDB 3 Core where it has the same paths.',
    },
    servers: [{ url: 'http://127.0.0.1:8181' }],
    security: [{ token: [] }],
    paths: {
      '/api/v3/write_lp': { post: write('Write line protocol', [DB, ...NATIVE_WRITE]) },
      '/api/v2/write': { post: write('Write line protocol (v2)', [BUCKET, ...LEGACY_WRITE]) },
      '/write': { post: write('Write line protocol (v1)', [DB, RP, ...LEGACY_WRITE]) },
      '/api/v3/query_sql': { get: queryByUrl('SQL'), post: queryByBody('SQL') },
      '/api/v3/query_influxql': { get: queryByUrl('InfluxQL'), post: queryByBody('InfluxQL') },
      '/api/v3/query_legacyql': { get: queryByUrl('InfluxQL'), post: queryByBody('InfluxQL') },
      '/query': { get: queryV1(), post: queryV1() },
      '/api/v2/delete': { post: deleteRows() },
      '/api/v3/configure/database': {
        get: listDatabases(),
        post: manage('Create a database', DATABASE_BODY),
        put: manage('Set or clear the retention period of a database', DATABASE_BODY),
        delete: manage('Delete a database', undefined, [DB, HARD_DELETE_AT]),
      },
      '/api/v3/configure/database/undelete': {
        post: manage('Restore a deleted database whose data are still there', NAMED_DATABASE),
      },
      '/api/v3/configure/database/retention_period': {
        post: manage('Set the retention period of a database', undefined, [DB, DURATION], '204'),
        delete: manage('Keep rows of a database for ever', undefined, [DB], '204'),
      },
      '/api/v3/configure/table': {
        post: manage('Create a table', TABLE_BODY),
        put: manage('Set or clear the retention period of a table', TABLE_RETENTION),
        delete: manage('Delete a table', undefined, [DB, TABLE, HARD_DELETE_AT]),
      },
      '/api/v3/configure/table/undelete': {
        post: manage('Restore a deleted table whose data are still there', NAMED_TABLE),
      },
      '/api/v3/configure/last_cache': {
        post: manage('Create a last-value cache', LAST_CACHE, [], '201'),
        delete: manage('Delete a last-value cache', undefined, [DB, TABLE, NAME]),
      },
      '/api/v3/configure/distinct_cache': {
        post: manage('Create a distinct-value cache', DISTINCT_CACHE, [], '201'),
        delete: manage('Delete a distinct-value cache', undefined, [DB, TABLE, NAME]),
      },
      ...processingPaths(),
      '/api/v3/configure/token/admin': {
        post: { ...makeToken('Make the first admin token; needs no token'), security: [] },
      },
      '/api/v3/configure/token/admin/regenerate': { post: makeToken('Replace the admin token') },
      '/api/v3/configure/token/named_admin': {
        post: makeToken('Make a named admin token', CreateNamedToken),
      },
      '/api/v3/configure/token': { delete: deleteToken() },
      '/health': { get: plain('Says OK when the server answers') },
      '/api/v1/health': { get: plain('Says OK when the server answers') },
      '/ready': { get: plain('Says OK when storage can be reached and no stop has begun', 503) },
      '/metrics': { get: plain('Metrics in the text format of Prometheus') },
      '/ping': { get: ping(), post: ping() },
    },
    components: {
      schemas: { Error: FAILURE, RefusedLines: REFUSED_LINES, Token: TokenObject },
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer', description: 'a token that starts with apiv3_' },
      },
    },
  };
}

interface Parameter {
  readonly name: string;
  readonly in: 'query';
  readonly required: boolean;
  readonly schema: TSchema;
}

const parameter = (name: string, schema: TSchema, required = false): Parameter => ({
  name,
  in: 'query',
  required,
  schema,
});
const oneOf = (names: readonly string[], options: object = {}): TSchema =>
  Type.String({ enum: names, ...options });

const DB = parameter('db', Type.String({ minLength: 1 }), true);
const BUCKET = parameter('bucket', Type.String({ minLength: 1, description: 'or db' }), true);
const RP = parameter('rp', Type.String({ description: 'retention policy' }));
const FORMATS = [
  'json',
  'json_series',
  'json_rows',
  'jsonl',
  'json_lines',
  'csv',
  'pretty',
  'parquet',
];
const FORMAT = parameter('format', oneOf(FORMATS));
const LONG_UNITS = ['second', 'millisecond', 'microsecond', 'nanosecond'];
const UNITS = [...LONG_UNITS, 's', 'ms', 'us', 'u', 'ns', 'n'];
const COMMON_WRITE = [
  parameter('accept_partial', Type.Boolean({ description: 'false: all lines or none' })),
  parameter('no_sync', Type.Boolean({ description: 'true: answer before the rows are durable' })),
];
const NATIVE_WRITE = [
  parameter('precision', oneOf(['auto', ...UNITS], { default: 'auto' })),
  ...COMMON_WRITE,
];
const LEGACY_WRITE = [
  parameter('precision', oneOf(UNITS, { default: 'nanosecond' })),
  ...COMMON_WRITE,
];

const FAILURE = Type.Object({ error: Type.String(), data: Type.Object({}) });
const REFUSED_LINES = Type.Object({
  error: Type.String(),
  data: Type.Array(
    Type.Object({
      original_line: Type.String(),
      line_number: Type.Integer({ minimum: 1 }),
      error_message: Type.String(),
    }),
  ),
});

const json = (schema: unknown) => ({ 'application/json': { schema } });
const text = { 'text/plain': { schema: Type.String() } };
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const answer = (description: string, content?: object) => ({
  description,
  ...(content && { content }),
});

const FAILED = {
  '400': answer('the request is wrong', json(ref('Error'))),
  '401': answer('no valid token', json(ref('Error'))),
};

function write(summary: string, parameters: readonly Parameter[]): object {
  return {
    summary,
    parameters,
    requestBody: {
      required: true,
      description: 'line protocol; may be sent with Content-Encoding: gzip',
      content: text,
    },
    responses: {
      '204': answer('every line is written'),
      ...FAILED,
      '400': answer('lines were refused; with accept_partial the others are written', {
        'application/json': { schema: { anyOf: [ref('RefusedLines'), ref('Error')] } },
      }),
      '413': answer('the body is too large', json(ref('Error'))),
      '422': answer('a limit of databases, tables or columns', json(ref('Error'))),
      '503': answer('too much is waiting to be stored; see Retry-After', json(ref('Error'))),
    },
  };
}

const TABLE = parameter('table', Type.String(), true);
const DURATION = parameter('duration', Type.String({ description: 'such as 30d or 1h 30m' }), true);
const HARD_DELETE_AT = parameter(
  'hard_delete_at',
  Type.String({
    description: 'when the data go for good: now, never, default or a time of RFC 3339',
  }),
);
const RETENTION = Type.Optional(
  Type.String({ description: 'such as 30d; without it rows are kept for ever' }),
);
const NAMED_DATABASE = Type.Object({ db: Type.String() });
const NAMED_TABLE = Type.Object({ db: Type.String(), table: Type.String() });
const DATABASE_BODY = Type.Object({ db: Type.String(), retention_period: RETENTION });
const TABLE_RETENTION = Type.Object({
  db: Type.String(),
  table: Type.String(),
  retention_period: RETENTION,
});
const TABLE_BODY = Type.Object({
  db: Type.String(),
  table: Type.String(),
  tags: Type.Array(Type.String()),
  fields: Type.Optional(
    Type.Array(
      Type.Object({
        name: Type.String(),
        type: oneOf(['utf8', 'int64', 'uint64', 'float64', 'bool']),
      }),
    ),
  ),
});

const NAME = parameter('name', Type.String(), true);
const CACHE_NAME = Type.Optional(
  Type.String({ description: 'named after the table and its columns without it' }),
);
const LAST_CACHE = Type.Object({
  db: Type.String(),
  table: Type.String(),
  name: CACHE_NAME,
  key_columns: Type.Optional(
    Type.Array(Type.String(), { description: 'the tags of the table without it' }),
  ),
  value_columns: Type.Optional(
    Type.Array(Type.String(), { description: 'all others without it, new ones as they appear' }),
  ),
  count: Type.Optional(Type.Integer({ minimum: 1, default: 1, description: 'rows of each key' })),
  ttl: Type.Optional(Type.Integer({ minimum: 0, default: 14_400, description: 'seconds' })),
});
const DISTINCT_CACHE = Type.Object({
  db: Type.String(),
  table: Type.String(),
  name: CACHE_NAME,
  columns: Type.Array(Type.String(), { minItems: 1 }),
  max_cardinality: Type.Optional(Type.Integer({ minimum: 1, default: 100_000 })),
  max_age: Type.Optional(Type.Integer({ minimum: 0, default: 86_400, description: 'seconds' })),
});

/** A call that changes what there is; what it is told may come as query string or as JSON. */
function manage(
  summary: string,
  body: TSchema | undefined,
  parameters: readonly Parameter[] = [],
  done: '200' | '201' | '204' = '200',
): object {
  return {
    summary,
    ...(parameters.length > 0 && { parameters }),
    ...(body !== undefined && { requestBody: { required: true, content: json(body) } }),
    responses: {
      [done]: answer('done', done === '201' ? json({}) : undefined),
      ...FAILED,
      '403': answer('the database is the server’s own', json(ref('Error'))),
      '404': answer('there is no such thing', json(ref('Error'))),
      '409': answer('it is there already, or deleted already', json(ref('Error'))),
      '415': answer('the body is not said to be JSON', json(ref('Error'))),
      '422': answer('a limit of databases, tables or columns', json(ref('Error'))),
    },
  };
}

function deleteRows(): object {
  const body = Type.Object({
    start: Type.String({ format: 'date-time' }),
    stop: Type.String({ format: 'date-time', description: 'included' }),
    predicate: Type.Optional(
      Type.String({ description: '_measurement="m" AND tag="value"; without it every row' }),
    ),
  });
  return {
    ...manage('Delete rows (v2); rows that are written later stay', body, [BUCKET], '204'),
  };
}

const TRIGGER_NAME = parameter('trigger_name', Type.String({ minLength: 1 }), true);
const TRIGGER = Type.Object({
  db: Type.String(),
  trigger_name: Type.String({ minLength: 1 }),
  plugin_filename: Type.String({
    description:
      'a file, or a folder with __init__.py, in the plugin folder; or gh:path of the repository',
  }),
  trigger_specification: Type.String({
    description:
      'all_tables, table:name, cron:expression of 6 fields, every:duration or request:path',
  }),
  trigger_settings: Type.Optional(
    Type.Object({
      run_async: Type.Optional(Type.Boolean({ default: false })),
      error_behavior: Type.Optional(oneOf(['log', 'retry', 'disable'], { default: 'log' })),
    }),
  ),
  trigger_arguments: Type.Optional(Type.Record(Type.String(), Type.String())),
  disabled: Type.Optional(Type.Boolean({ default: false })),
});
const NAMED_TRIGGER = Type.Object({ db: Type.String(), trigger_name: Type.String() });
const DRY_RUN = {
  filename: Type.String(),
  database: Type.String(),
  cache_name: Type.Optional(Type.String({ description: 'runs of one name share a cache' })),
  input_arguments: Type.Optional(Type.Record(Type.String(), Type.String())),
};
const DRY_OUTCOME = {
  log_lines: Type.Array(Type.String()),
  database_writes: Type.Record(Type.String(), Type.Array(Type.String()), {
    description: 'line protocol by database; nothing of it is written',
  }),
  errors: Type.Array(Type.String()),
};

/** Triggers, plugins and packages of the processing engine. */
function processingPaths(): Readonly<Record<string, object>> {
  const trigger = '/api/v3/configure/processing_engine_trigger';
  const environment = '/api/v3/configure/plugin_environment';
  const pluginFile = Type.Object({
    plugin_name: Type.String({ description: 'path in the plugin folder' }),
    content: Type.String(),
  });
  const pluginOfTrigger = Type.Object({
    plugin_name: Type.String({ description: 'name of a trigger' }),
    content: Type.String(),
  });
  const folderOfTrigger = Type.Object({
    plugin_name: Type.String({ description: 'name of a trigger' }),
    files: Type.Array(Type.Object({ relative_path: Type.String(), content: Type.String() }), {
      minItems: 1,
      maxItems: 1000,
    }),
  });
  const packages = Type.Object({ packages: Type.Array(Type.String()) });
  const requirements = Type.Object({
    requirements_location: Type.String({
      description: 'path of a requirements file, absolute or in the plugin folder',
    }),
  });
  const force = parameter(
    'force',
    Type.Boolean({ default: false, description: 'also if enabled' }),
  );
  return {
    [trigger]: {
      post: processing('Create a trigger, which runs a Python plugin', TRIGGER),
      delete: processing('Delete a trigger', undefined, [DB, TRIGGER_NAME, force]),
    },
    [`${trigger}/enable`]: { post: processing('Enable a trigger', NAMED_TRIGGER) },
    [`${trigger}/disable`]: {
      post: processing('Disable a trigger; what runs of it is cancelled', NAMED_TRIGGER),
    },
    [`${environment}/install_packages`]: {
      post: processing('Install Python packages; answers when they are there', packages),
    },
    [`${environment}/install_requirements`]: {
      post: processing('Install the packages of a requirements file', requirements),
    },
    '/api/v3/plugin_test/wal': {
      post: dryRun('Try a write plugin out with these lines', {
        input_lp: Type.String({ description: 'line protocol with nanoseconds' }),
      }),
    },
    '/api/v3/plugin_test/schedule': {
      post: dryRun(
        'Try a schedule plugin out',
        { schedule: Type.Optional(Type.String({ default: '* * * * * *' })) },
        { trigger_time: Type.Union([Type.String({ format: 'date-time' }), Type.Null()]) },
      ),
    },
    '/api/v3/plugins/files': {
      post: processing('Create or replace a file of the plugin folder', pluginFile),
      put: processing('Replace the file of a trigger’s plugin', pluginOfTrigger),
    },
    '/api/v3/plugins/directory': {
      put: processing('Replace the folder of a trigger’s plugin in one step', folderOfTrigger),
    },
    '/api/v3/engine/{request_path}': { get: runPlugin(false), post: runPlugin(true) },
  };
}

function processing(
  summary: string,
  body: TSchema | undefined,
  parameters: readonly Parameter[] = [],
): object {
  const managed = manage(summary, body, parameters) as { readonly responses: object };
  const responses = {
    ...managed.responses,
    '403': answer('switched off by the settings of the server', json(ref('Error'))),
    '409': answer('it is there already, or still enabled', json(ref('Error'))),
    '500': answer('no plugin folder is set, or the installer failed', json(ref('Error'))),
    '502': answer('a plugin could not be fetched', json(ref('Error'))),
    '503': answer('there is no Python on this machine', json(ref('Error'))),
  };
  return { ...managed, responses };
}

function dryRun(
  summary: string,
  input: Readonly<Record<string, TSchema>>,
  outcome: Readonly<Record<string, TSchema>> = {},
): object {
  const operation = processing(summary, Type.Object({ ...DRY_RUN, ...input }));
  const { responses } = operation as { readonly responses: object };
  const done = Type.Object({ ...outcome, ...DRY_OUTCOME });
  return { ...operation, responses: { ...responses, '200': answer('what it did', json(done)) } };
}

/** What a request plugin gets and gives is its own affair. */
function runPlugin(hasBody: boolean): object {
  return {
    summary: 'Run the plugin of a request trigger',
    parameters: [
      {
        name: 'request_path',
        in: 'path',
        required: true,
        schema: Type.String({ description: 'as in request:path; may have slashes' }),
      },
    ],
    ...(hasBody && { requestBody: { content: { '*/*': {} } } }),
    responses: {
      default: answer('what the plugin returned'),
      ...FAILED,
      '404': answer('no enabled trigger has this path'),
      '500': answer('the plugin failed', json(Type.Object({ error: Type.String() }))),
      '503': answer('too many requests wait for it; see Retry-After', json(ref('Error'))),
    },
  };
}

/** The answer's type follows `format`, or `Accept` without it. */
const RESULT = {
  '200': answer('the result', {
    'application/json': {},
    'application/jsonl': {},
    'text/csv': {},
    ...text,
    'application/vnd.apache.parquet': {},
  }),
  ...FAILED,
};

const QUERY_FAILED = {
  '404': answer('there is no such database', json(ref('Error'))),
  '405': answer('the statement is not implemented', json(ref('Error'))),
  '500': answer('the query failed while it ran', json(ref('Error'))),
};

function queryByUrl(language: 'SQL' | 'InfluxQL'): object {
  const q = parameter('q', Type.String({ description: `one statement of ${language}` }), true);
  const params = parameter('params', Type.String({ description: 'JSON object: values of $name' }));
  return {
    summary: `Run a query in ${language}`,
    parameters: [DB, q, FORMAT, params],
    responses: { ...RESULT, ...QUERY_FAILED },
  };
}

function queryByBody(language: 'SQL' | 'InfluxQL'): object {
  const scalar = Type.Union([Type.Null(), Type.Boolean(), Type.Number(), Type.String()]);
  const body = Type.Object({
    db: Type.String({ description: 'also spelled database' }),
    q: Type.String({ description: 'also spelled query_str' }),
    format: Type.Optional(oneOf(FORMATS)),
    params: Type.Optional(Type.Record(Type.String(), scalar)),
  });
  return {
    summary: `Run a query in ${language}`,
    requestBody: { required: true, content: json(body) },
    responses: { ...RESULT, ...QUERY_FAILED },
  };
}

/** The 1.x server's endpoint; a POST may have the same in a form, in JSON or, for `q`, as its body. */
function queryV1(): object {
  const q = parameter(
    'q',
    Type.String({ description: 'statements of InfluxQL, parted by ;' }),
    true,
  );
  const epoch = parameter(
    'epoch',
    Type.String({ description: 'unit of times: ns, u, ms, s, m, h, d, w' }),
  );
  const chunked = parameter('chunked', Type.Boolean({ default: false }));
  const chunkSize = parameter('chunk_size', Type.Integer({ default: 10_000 }));
  const pretty = parameter('pretty', Type.Boolean({ default: false }));
  const params = parameter('params', Type.String({ description: 'JSON object: values of $name' }));
  return {
    summary: 'Run statements of InfluxQL (v1)',
    parameters: [q, { ...DB, required: false }, RP, epoch, chunked, chunkSize, pretty, params],
    responses: {
      '200': answer('a result for each statement; failures of statements are in their results'),
      '400': answer('a parameter is missing or cannot be read', json(ref('Error'))),
      ...QUERY_FAILED,
    },
  };
}

function listDatabases(): object {
  const showDeleted = parameter('show_deleted', Type.Boolean({ default: false }));
  return { summary: 'List databases', parameters: [FORMAT, showDeleted], responses: RESULT };
}

function makeToken(summary: string, body?: TSchema): object {
  const responses = {
    '201': answer('the token; its text is shown this once', json(ref('Token'))),
    ...FAILED,
    '404': answer('there is no admin token to replace', json(ref('Error'))),
    '409': answer('the name is taken', json(ref('Error'))),
  };
  if (body === undefined) return { summary, responses };
  return {
    summary,
    requestBody: { required: true, content: json(body) },
    responses: { ...responses, '415': answer('the body is no JSON', json(ref('Error'))) },
  };
}

function deleteToken(): object {
  return {
    summary: 'End a named token',
    parameters: [parameter('token_name', DeleteToken.properties.token_name, true)],
    responses: {
      '200': answer('it is valid no longer'),
      ...FAILED,
      '404': answer('there is no such token', json(ref('Error'))),
      '405': answer('the admin token cannot be deleted', json(ref('Error'))),
    },
  };
}

function plain(summary: string, failure?: number): object {
  const failed = failure && { [failure]: answer('not now', json(ref('Error'))) };
  return { summary, responses: { '200': answer('yes', text), '401': FAILED['401'], ...failed } };
}

function ping(): object {
  const body = Type.Object({
    product_name: Type.String(),
    version: Type.String(),
    revision: Type.String(),
    process_id: Type.String({ format: 'uuid' }),
  });
  const responses = { '200': answer('who answers', json(body)), '401': FAILED['401'] };
  return { summary: 'Product, version, process', responses };
}
