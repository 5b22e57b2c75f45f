import { isPlainText, type Route } from '@plinth/kernel';
import type { NewTrigger } from '../../domain/processing/processing-engine.js';
import { tsdbError } from '../../errors.js';
import type { ErrorBehavior } from '../../model/trigger.js';
import type { ManagementInput } from '../configure/management-input.js';
import type { RouteDeps } from '../deps.js';
import { jsonError, numberTextOf } from '../query/json-request.js';

const PATH = '/api/v3/configure/processing_engine_trigger';
const ERROR_BEHAVIORS: readonly ErrorBehavior[] = ['log', 'retry', 'disable'];

/** Source: processing-engine, "HTTP API"; tsdb-http, "Triggers". */
export function triggerRoutes({ processing, admin }: RouteDeps): readonly Route[] {
  const { engine } = processing;
  return [
    admin.command('POST', PATH, (input) => engine.create(readTrigger(input))),
    admin.command('POST', `${PATH}/enable`, (input) => engine.enable(readName(input))),
    admin.command('POST', `${PATH}/disable`, (input) => engine.disable(readName(input))),
    admin.command('DELETE', PATH, (input) =>
      engine.delete(readName(input), input.flag('force') ?? false),
    ),
  ];
}

function readName(input: ManagementInput): { readonly database: string; readonly name: string } {
  return { database: input.requiredText('db'), name: input.requiredText('trigger_name') };
}

function readTrigger(input: ManagementInput): NewTrigger {
  const { database, name } = readName(input);
  if (name === '') throw tsdbError('parameter_invalid', 'trigger name cannot be empty');
  if (!isPlainText(name)) {
    throw tsdbError(
      'parameter_invalid',
      'trigger name cannot contain control characters or half of a character',
    );
  }
  const nodes = input.text('node_spec');
  if (nodes !== undefined && nodes !== 'all') {
    throw tsdbError(
      'parameter_invalid',
      `invalid node_spec ${nodes}: this server runs triggers on all nodes`,
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

/** Numbers and booleans become their JSON text, numbers as they were written. */
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
