import { Compile } from 'typebox/schema';
import { isObject } from '../schema/is-object.js';
import { withoutLogins } from './list-settings.js';
import { nearestName } from './nearest-name.js';
import { parseSetting, settingTypeText } from './parse-value.js';
import {
  describeSettings,
  isSecretSetting,
  type SettingDescription,
  type SettingsOf,
  type SettingsSection,
} from './section.js';

/** The configuration is invalid. Startup fails and reports all problems together. */
export class ConfigInvalid extends Error {
  override readonly name = 'ConfigInvalid';
  readonly kind = 'config_invalid';
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(`configuration: ${problems.join('; ')}`);
    this.problems = problems;
  }
}

export interface SettingsSources {
  /** Parsed configuration file: sections as objects (`{"tsdb":{"compat":...}}`) or dotted keys. */
  readonly file?: unknown;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** By flag name without `--`, aliases included; a boolean flag without a value is `true`. */
  readonly flags: ReadonlyMap<string, string>;
}

type Sections = Readonly<Record<string, SettingsSection>>;

/** The values of each section, frozen. */
export type LoadedSettings<S extends Sections> = { readonly [N in keyof S]: SettingsOf<S[N]> };

/**
 * Reads all settings. Flags override variables, variables override the file, and the file overrides defaults.
 * @throws {ConfigInvalid} with all problems.
 */
export function loadSettings<S extends Sections>(
  sections: S,
  sources: SettingsSources,
): LoadedSettings<S> {
  const settings = describeSettings(Object.values(sections));
  const problems: string[] = [];
  const file = flattenFile(sources.file, problems);
  const values = new Map<string, Record<string, unknown>>();
  for (const section of Object.values(sections)) values.set(section.name, {});
  for (const setting of settings) {
    const configured = findGiven(setting, sources, file, problems);
    const value = configured === undefined ? setting.default : configured.value;
    if (value === undefined) continue;
    if (configured !== undefined && !Compile(setting.schema).Check(value)) {
      problems.push(
        `${configured.spelling}: expected ${settingTypeText(setting)}${lengthText(setting)}, got ${shown(setting, configured.raw)}`,
      );
    }
    const section = values.get(setting.section);
    if (section !== undefined) section[setting.key] = structuredClone(value);
  }
  problems.push(...unknownNames(settings, sources, file));
  if (problems.length > 0) throw new ConfigInvalid(problems);
  const loaded = Object.entries(sections).map(([name, section]) => [
    name,
    Object.freeze(values.get(section.name)),
  ]);
  // Every value has passed its schema, so each section matches its type.
  return Object.freeze(Object.fromEntries(loaded)) as LoadedSettings<S>;
}

/**
 * Returns the origin of each setting that was given, by path: the flag, the variable, or the path itself for the
 * configuration file. Settings with their default value are not included.
 */
export function settingOrigins(
  sections: Sections,
  sources: SettingsSources,
): ReadonlyMap<string, string> {
  const file = flattenFile(sources.file, []);
  const origins = new Map<string, string>();
  for (const setting of describeSettings(Object.values(sections))) {
    const configured = findGiven(setting, sources, file, []);
    if (configured !== undefined) origins.set(setting.path, configured.spelling);
  }
  return origins;
}

/** Returns the value for an error message. For a secret, only its length is shown. */
function shown({ key }: SettingDescription, raw: unknown): string {
  if (!isSecretSetting(key)) return JSON.stringify(withoutLogins(raw));
  return typeof raw === 'string' ? `${raw.length} characters` : typeof raw;
}

function lengthText({ schema }: SettingDescription): string {
  const least: unknown = Reflect.get(schema, 'minLength');
  return typeof least === 'number' && least > 1 ? ` of at least ${least} characters` : '';
}

interface Given {
  readonly spelling: string;
  readonly raw: unknown;
  readonly value: unknown;
}

function findGiven(
  setting: SettingDescription,
  sources: SettingsSources,
  file: ReadonlyMap<string, unknown>,
  problems: string[],
): Given | undefined {
  const read = (spelling: string, raw: unknown): Given[] => {
    if (raw === undefined || raw === '') return [];
    return [{ spelling, raw, value: parseSetting(setting, raw) }];
  };
  const levels = [
    setting.flags.flatMap((flag) => read(`--${flag}`, sources.flags.get(flag))),
    setting.env.flatMap((name) => read(name, sources.env[name])),
    read(setting.path, file.get(setting.path)),
  ];
  for (const [first, ...others] of levels) {
    if (first === undefined) continue;
    const other = others.find(({ value }) => JSON.stringify(value) !== JSON.stringify(first.value));
    if (other)
      problems.push(
        `${first.spelling} and ${other.spelling} are the same setting with different values`,
      );
    return first;
  }
  return undefined;
}

/** Flattens `{"tsdb":{"compat":1},"server.http_bind":2}` to `tsdb.compat` and `server.http_bind`. */
function flattenFile(file: unknown, problems: string[]): ReadonlyMap<string, unknown> {
  const flat = new Map<string, unknown>();
  if (file === undefined) return flat;
  if (!isObject(file)) {
    problems.push('configuration file: expected an object');
    return flat;
  }
  for (const [name, value] of Object.entries(file)) {
    if (!isObject(value)) flat.set(name, value);
    else for (const [key, inner] of Object.entries(value)) flat.set(`${name}.${key}`, inner);
  }
  return flat;
}

/** Variables that commands and client examples read. */
const OF_CLIENTS = /^PLINTH_(?:CONFIG|HOST_URL|DATABASE_NAME|AUTH_TOKEN|TOKEN|TLS_CA)$/;
/** Variables that Kubernetes sets for services whose names start with `plinth`. */
const OF_KUBERNETES =
  /^PLINTH_(?:\w+_)?(?:SERVICE_HOST|SERVICE_PORT(?:_\w+)?|PORT_\d+_(?:TCP|UDP)(?:_\w+)?)$/;
const isAddressOfKubernetes = (name: string, value = ''): boolean =>
  name.endsWith('_PORT') && /^(?:tcp|udp):\/\//.test(value);

const isOfOthers = (name: string, value: string | undefined): boolean =>
  OF_CLIENTS.test(name) || OF_KUBERNETES.test(name) || isAddressOfKubernetes(name, value);

/** Reports unknown names, because a misspelled setting would otherwise be ignored silently. */
function unknownNames(
  settings: readonly SettingDescription[],
  sources: SettingsSources,
  file: ReadonlyMap<string, unknown>,
): string[] {
  const paths = new Set(settings.map(({ path }) => path));
  const flags = new Set(settings.flatMap((setting) => setting.flags));
  const env = new Set(settings.flatMap((setting) => setting.env));
  const unknown = (
    name: string,
    known: ReadonlySet<string>,
    prefix: string,
    shown = '',
  ): string => {
    const meant = nearestName(name, [...known], prefix);
    const hint = meant === undefined ? '' : `; did you mean ${shown}${meant}?`;
    return `${shown}${name}: no such setting${hint}`;
  };
  return [
    ...[...file.keys()].filter((name) => !paths.has(name)).map((name) => unknown(name, paths, '')),
    ...Object.keys(sources.env)
      .filter(
        (name) =>
          name.startsWith('PLINTH_') && !env.has(name) && !isOfOthers(name, sources.env[name]),
      )
      .map((name) => unknown(name, env, 'PLINTH_')),
    ...[...sources.flags.keys()]
      .filter((name) => !flags.has(name))
      .map((name) => unknown(name, flags, '', '--')),
  ];
}
