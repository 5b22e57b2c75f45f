import { OpenApi, type QueryParameter } from '@plinth/kernel';
import { type TSchema, Type } from 'typebox';
import { DB, FAILED } from './elements.js';
import { manage } from './management.js';

const { answer, json, oneOf, parameter, ref } = OpenApi;

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
export function processingPaths(): Readonly<Record<string, object>> {
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
  parameters: readonly QueryParameter[] = [],
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
