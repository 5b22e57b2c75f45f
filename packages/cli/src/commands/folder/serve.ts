import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import {
  defaultText,
  describeSettings,
  givenWithoutEffect,
  listSettings,
  messageOf,
  type SettingDescription,
  type SettingsSources,
  settingOrigins,
} from '@plinth/kernel';
import { checkSettings } from '@plinth/server/check-settings.js';
import { assertHostsUsable } from '@plinth/server/folder/acquire-folder-and-port.js';
import { CommandFailed, EXIT } from '@plinth/server/process/command-failed.js';
import { endAtOnceOnBug } from '@plinth/server/process/crash-handler.js';
import { explainFailedStart } from '@plinth/server/process/explain-failed-start.js';
import { forgetVariables } from '@plinth/server/process/forget-variables.js';
import { stopTimes } from '@plinth/server/process/hard-end.js';
import { ServiceManager } from '@plinth/server/process/service-manager.js';
import {
  closeOnSignals,
  reloadOnHangup,
  toggleDebugOnSignal,
} from '@plinth/server/process/signals.js';
import { SETTINGS, type Settings } from '@plinth/server/settings.js';
import { type RunningServer, readSettings, startServer } from '@plinth/server/start-server.js';
import { Command, Option } from 'commander';
import { takeStoreThread } from '../../store-thread.js';
import { restrictUmask } from '../output/restrict-umask.js';
import { print, printNote } from '../output/terminal.js';
import { COMMON_SETTINGS } from '../serve-help.js';

const EXAMPLES = `
Examples:
  plinth serve --data-dir ./data
  plinth serve --http-bind 127.0.0.1:9000 --without-auth
  plinth serve --config plinth.json --log-level debug
  plinth serve --config plinth.json --check

Each setting can also come from the environment or a JSON file (docs/SETTINGS.md). SIGTERM and Ctrl-C let running
requests finish; a second one stops at once; SIGHUP reads the TLS key and certificate again and
never stops the server; SIGUSR1 toggles the log level between debug and the configured one. Flags and INFLUXDB3_ variables
of InfluxDB 3 Core are accepted; the log lists those without effect.`;

/**
 * `plinth serve`, with a flag for every declared setting.
 * @param words the command line. Declaring hundreds of flags is slow, so unused ones are declared only for help and
 * invalid flags.
 */
export function serveCommand(words: readonly string[]): Command {
  const command = new Command('serve')
    .description('run the server')
    .option('--config <file>', 'JSON file with settings (PLINTH_CONFIG)')
    .option('--check', 'check the settings, print each with its origin, and exit')
    .option('--help-all', 'show all settings')
    .addHelpText('after', EXAMPLES);
  const settings = describeSettings(Object.values(SETTINGS));
  const given = flagsOf(words);
  const known = new Set([
    '--config',
    '--check',
    ...settings.flatMap(({ flags }) => flags.map(asGiven)),
  ]);
  const isShort = given.includes('--help') || given.includes('-h');
  const areAllKnown = given.every((flag) => known.has(flag));
  for (const setting of settings) {
    const isGiven = setting.flags.some((flag) => given.includes(asGiven(flag)));
    if (isGiven || !areAllKnown) addFlags(command, setting, isShort);
  }
  return command.action(async () => {
    restrictUmask();
    const { config: configFlag, check, 'help-all': helpAll, ...flags } = givenFlags(command);
    if (helpAll !== undefined) return command.outputHelp();
    const config = configFlag ?? (process.env[CONFIG_VARIABLE] || undefined);
    const sources = {
      env: process.env,
      flags: new Map(Object.entries(flags)),
      ...(await read(config, configFlag === undefined ? CONFIG_VARIABLE : '--config')),
    };
    await (check === undefined ? serve(sources) : checkOnly(sources, config));
  });
}

const CONFIG_VARIABLE = 'PLINTH_CONFIG';

const asGiven = (flag: string): string => `--${flag}`;

const flagsOf = (words: readonly string[]): readonly string[] =>
  words.filter((word) => word.startsWith('-')).map((word) => word.replace(/=.*$/s, ''));

/**
 * Help shows the shortest alias of each setting that has an effect.
 * @param isShort shows only the common settings.
 */
function addFlags(command: Command, setting: SettingDescription, isShort: boolean): void {
  const shown = setting.flags.at(1) ?? setting.flags[0];
  for (const flag of setting.flags) {
    const takes = takesBareFlag(setting) ? '[value]' : '<value>';
    const byDefault =
      setting.default === undefined ? '' : ` (default: ${defaultText(setting.default)})`;
    const group = COMMON_SETTINGS.get(setting.path);
    command.addOption(
      new Option(`--${flag} ${takes}`, `${setting.description}${byDefault}`)
        .hideHelp(flag !== shown || !setting.hasEffect || (isShort && group === undefined))
        .helpGroup(isShort && group !== undefined ? group : `Settings in "${setting.section}":`),
    );
  }
}

function takesBareFlag({ isBoolean, key }: SettingDescription): boolean {
  return isBoolean || key === 'admin_token_recovery_http_bind';
}

function givenFlags(command: Command): Record<string, string> {
  const flags: Record<string, string> = Object.create(null);
  for (const option of command.options) {
    const value: unknown = command.getOptionValue(option.attributeName());
    if (value === undefined || option.long === undefined) continue;
    const isBareAddress = value === true && option.long.endsWith('recovery-http-bind');
    flags[option.long.slice(2)] = isBareAddress ? '127.0.0.1:8182' : String(value);
  }
  return flags;
}

/** @param origin the flag or variable that names the file, for the error message. */
async function read(
  config: string | undefined,
  origin: string,
): Promise<Pick<SettingsSources, 'file'>> {
  if (config === undefined) return {};
  try {
    return { file: JSON.parse(await readFile(config, 'utf8')) };
  } catch (error) {
    throw new CommandFailed(`${origin} ${config}: ${messageOf(error)}`, EXIT.usage);
  }
}

/** Checks the settings without opening a folder or a port. */
async function checkOnly(sources: SettingsSources, config: string | undefined): Promise<void> {
  try {
    const settings = readSettings(sources);
    await checkSettings(settings);
    await assertHostsUsable(settings);
    for (const { setting, why } of givenWithoutEffect(Object.values(SETTINGS), settings)) {
      printNote(`${setting}: ${why}\n`);
    }
    print(settingsWithOrigins(settings, sources, config));
  } catch (error) {
    const failure = explainFailedStart(error);
    throw failure instanceof CommandFailed
      ? new CommandFailed(failure.message, EXIT.usage)
      : failure;
  }
}

function settingsWithOrigins(
  settings: Settings,
  sources: SettingsSources,
  config: string | undefined,
): string {
  const origins = settingOrigins(SETTINGS, sources);
  const lines = listSettings(SETTINGS, settings).map(({ name, value, is_secret }) => {
    const origin = origins.get(name);
    // The origin of a setting from the configuration file is the setting's name.
    const from = origin === name ? (config ?? 'file') : (origin ?? 'default');
    if (is_secret) return `${name} = ${origin === undefined ? '(not set)' : '(secret)'}  # ${from}`;
    return `${name} = ${value === undefined ? '(not set)' : JSON.stringify(value)}  # ${from}`;
  });
  return `${lines.join('\n')}\n`;
}

async function serve(sources: SettingsSources): Promise<void> {
  try {
    const settings = readSettings(sources);
    forgetVariables(process.env);
    endAtOnceOnBug();
    const starting = startServer({ settings, takeStoreThread });
    const manager = new ServiceManager(process.env, ({ message }) => {
      process.stderr.write(`plinth: cannot notify the service manager: ${message}\n`);
    });
    const { endMs } = stopTimes(settings.server);
    const closed = closeOnSignals(starting, { endMs, onStop: () => manager.stopping() });
    closed.catch(() => undefined); // A failed start is reported below.
    reloadOnHangup(starting);
    const server = await starting;
    toggleDebugOnSignal(server);
    manager.ready();
    if (process.stdout.isTTY) printBanner(server, settings);
    await closed;
  } catch (error) {
    throw explainFailedStart(error);
  }
}

/** The default server URL of clients. */
const USUAL_URL = 'http://127.0.0.1:8181';

function printBanner(
  { address: { url }, isFirstTokenFree }: RunningServer,
  settings: ReturnType<typeof readSettings>,
): void {
  const { server, identity } = settings;
  const where =
    server.object_store === 'memory'
      ? 'in memory; lost when the server stops'
      : resolve(server.data_dir);
  // `npm start` runs from a checkout, where the command is a package script.
  const plinth = process.env['npm_lifecycle_event'] === 'start' ? 'npm run plinth --' : 'plinth';
  const create = `${plinth} token create${url === USUAL_URL ? '' : ` --host ${url}`}`;
  let access = `token required; create more: ${create} NAME --token ...`;
  let next = 'open the address and sign in with the token';
  if (identity.without_auth) {
    access = 'no token required: every client has full access';
    next = 'open the address';
  } else if (isFirstTokenFree) {
    access = `no token yet; create the first one: ${create}`;
    next = 'create the token, open the address and sign in with it';
  }
  print(`
  plinth listens on ${url}

    open      ${url}/console/
    services  ${server.services.join(', ')}
    data      ${where}
    access    ${access}
    next      ${next}
    stop      Ctrl-C

`);
}
