import { isPlainText, OpenApi, type Route, type RouteDocs } from '@plinth/kernel';
import { MAX_NAME_LENGTH } from '@plinth/tsdb-model/database/limits.js';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import type { ErrorBehavior } from '@plinth/tsdb-model/plugins/trigger.js';
import type { NewTrigger } from '@plinth/tsdb-plugins/domain/processing-engine.js';
import { Type } from 'typebox';
import type { ManagementInput } from '../configure/management-input.js';
import type { RouteDeps } from '../deps.js';
import { DB, PROCESSING_FAILED } from '../description.js';
import { jsonError, numberTextOf } from '../query/json-request.js';
import type { FieldsOfErrors } from '../route-builder.js';

const PATH = '/api/v3/configure/processing_engine_trigger';
const ERROR_BEHAVIORS: readonly ErrorBehavior[] = ['log', 'retry', 'disable'];

const NAMED = { ...DB, trigger_name: Type.String({ minLength: 1 }) };
const CREATE: RouteDocs = {
  summary: 'Create a trigger that runs a Python plugin',
  body: Type.Object({
    ...NAMED,
    trigger_name: Type.String({ minLength: 1, maxLength: MAX_NAME_LENGTH }),
    plugin_filename: Type.String({
      description:
        'file or folder with __init__.py in the plugin folder, or gh:path in the plugin repository',
    }),
    trigger_specification: Type.String({
      description:
        'all_tables, table:name, cron:expression with 6 fields, every:duration or request:path',
    }),
    trigger_settings: Type.Optional(
      Type.Object({
        run_async: Type.Optional(Type.Boolean({ default: false })),
        error_behavior: Type.Optional(OpenApi.oneOf(ERROR_BEHAVIORS, { default: 'log' })),
      }),
    ),
    trigger_arguments: Type.Optional(Type.Record(Type.String(), Type.String())),
    disabled: Type.Optional(Type.Boolean({ default: false })),
  }),
  errors: PROCESSING_FAILED,
};
/** The fields to which the errors of a new trigger refer. */
const FIELDS: FieldsOfErrors = {
  ...{ internal_database_untriggered: 'db', already_deleted: 'db', database_not_known: 'db' },
  resource_exists: 'trigger_name',
  ...{
    trigger_specification_invalid: 'trigger_specification',
    request_path_taken: 'trigger_specification',
  },
  plugin_type_refused: 'trigger_specification',
  ...{ plugin_file_missing: 'plugin_filename', plugin_folder_incomplete: 'plugin_filename' },
  ...{ plugin_path_escapes: 'plugin_filename', plugin_file_refused: 'plugin_filename' },
  ...{ plugin_invalid: 'plugin_filename', plugin_fetch_failed: 'plugin_filename' },
  plugin_folder_locked: 'plugin_filename',
};
const ENABLE: RouteDocs = {
  summary: 'Enable a trigger',
  body: Type.Object(NAMED),
  errors: PROCESSING_FAILED,
};
const DISABLE: RouteDocs = {
  ...ENABLE,
  summary: 'Disable a trigger and cancel its runs',
};
const DELETE: RouteDocs = {
  summary: 'Delete a trigger',
  query: {
    ...NAMED,
    force: Type.Optional(
      Type.Boolean({ default: false, description: 'also delete an enabled trigger' }),
    ),
  },
  errors: PROCESSING_FAILED,
};

/** Source: processing-engine, "HTTP API"; tsdb-http, "Triggers". */
export function triggerRoutes({ processing, routeBuilder }: RouteDeps): readonly Route[] {
  const { engine } = processing;
  return [
    routeBuilder.command('POST', PATH, CREATE, (input) => engine.create(readTrigger(input)), {
      fields: FIELDS,
    }),
    routeBuilder.command('POST', `${PATH}/enable`, ENABLE, (input) =>
      engine.enable(readName(input)),
    ),
    routeBuilder.command('POST', `${PATH}/disable`, DISABLE, (input) =>
      engine.disable(readName(input)),
    ),
    routeBuilder.command('DELETE', PATH, DELETE, (input) =>
      engine.delete(readName(input), input.flag('force') ?? false),
    ),
  ];
}

function readName(input: ManagementInput): { readonly database: string; readonly name: string } {
  return { database: input.requiredText('db'), name: input.requiredText('trigger_name') };
}

function readTrigger(input: ManagementInput): NewTrigger {
  const { database, name } = readName(input);
  checkName(name);
  const nodes = input.text('node_spec');
  if (nodes !== undefined && nodes !== 'all') {
    throw tsdbError(
      'parameter_invalid',
      `invalid node_spec '${nodes}'; use 'all', because this server runs triggers on all nodes`,
    );
  }
  const settings = input.object('trigger_settings');
  return {
    database,
    name,
    pluginFilename: input.requiredText('plugin_filename'),
    specification: input.requiredText('trigger_specification'),
    runAsync: readRunAsync(settings?.['run_async']),
    errorBehavior: readErrorBehavior(settings?.['error_behavior']),
    arguments: readArguments(input.exactObject('trigger_arguments'), 'trigger_arguments'),
    isDisabled: input.flag('disabled') ?? false,
  };
}

function checkName(name: string): void {
  const fault =
    name === ''
      ? 'cannot be empty'
      : !isPlainText(name)
        ? 'cannot contain control characters or unpaired surrogates'
        : name.length > MAX_NAME_LENGTH && `cannot have more than ${MAX_NAME_LENGTH} characters`;
  if (fault === false) return;
  const error = tsdbError('parameter_invalid', `trigger name ${fault}`);
  error.field = 'trigger_name';
  throw error;
}

function readRunAsync(value: unknown): boolean {
  if (value === undefined || value === null) return false;
  if (typeof value === 'boolean') return value;
  throw jsonError('invalid type for field `run_async`, expected a boolean');
}

function readErrorBehavior(value: unknown): ErrorBehavior {
  if (value === undefined || value === null) return 'log';
  const found = ERROR_BEHAVIORS.find(
    (behavior) => typeof value === 'string' && value.toLowerCase() === behavior,
  );
  if (found !== undefined) return found;
  throw jsonError(
    `unknown variant \`${String(value)}\` for field \`error_behavior\`, expected one of \`log\`, \`retry\`, \`disable\``,
  );
}

/** Converts numbers and booleans to their JSON text; numbers keep their original form. */
export function readArguments(
  value: Readonly<Record<string, unknown>> | undefined,
  field: string,
): ReadonlyMap<string, string> | undefined {
  if (value === undefined) return undefined;
  const args = new Map<string, string>();
  for (const [key, item] of Object.entries(value)) {
    const text = typeof item === 'boolean' ? String(item) : (numberTextOf(item) ?? item);
    if (typeof text === 'string') args.set(key, text);
    else throw jsonError(`invalid type for \`${key}\` in field \`${field}\`, expected a string`);
  }
  return args;
}
