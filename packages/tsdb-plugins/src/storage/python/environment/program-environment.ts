import { delimiter, join } from 'node:path';
import type { PluginUser } from '../plugin-user.js';

type Variables = Readonly<Record<string, string | undefined>>;

/**
 * Variables that Python needs for startup, locale and temporary files. None of them contains a
 * secret.
 */
const BASIC: readonly string[] = [
  'PATH',
  'HOME',
  'LANG',
  'LC_ALL',
  'LC_CTYPE',
  'TMPDIR',
  'LD_LIBRARY_PATH',
  'DYLD_LIBRARY_PATH',
];

/**
 * Variables for package sources, proxies and certificates, and for compilers of packages without a
 * wheel.
 */
const OF_INSTALLERS =
  /^(?:(?:PIP|UV)_\w+|(?:https?|all|no)_proxy|(?:HTTPS?|ALL|NO)_PROXY|SSL_CERT_(?:FILE|DIR)|REQUESTS_CA_BUNDLE|CURL_CA_BUNDLE|NETRC|XDG_(?:CACHE|CONFIG)_HOME|CC|CXX|CFLAGS|CXXFLAGS|LDFLAGS)$/;

export interface EnvironmentRules {
  /** Names of additional variables that the operator allows. */
  readonly names: readonly string[];
  readonly user: PluginUser | undefined;
}

/**
 * Returns the environment of plugin programs: only the listed variables of the server's
 * environment, so that no secret is passed by oversight.
 */
export function programEnvironment(
  from: Variables,
  { names, user }: EnvironmentRules,
): Record<string, string> {
  const allowed = pick(from, (name) => BASIC.includes(name) || names.includes(name));
  return user === undefined ? allowed : { ...allowed, HOME: user.home };
}

/** Returns the same environment, plus variables for package mirrors and proxies. */
export function installerEnvironment(
  from: Variables,
  rules: EnvironmentRules,
): Record<string, string> {
  return {
    ...pick(from, (name) => OF_INSTALLERS.test(name)),
    ...programEnvironment(from, rules),
  };
}

/**
 * Returns the environment in which plugins run. Source: processing-engine, "Packages and
 * environment".
 */
export function pluginEnvironment(
  from: Variables,
  rules: EnvironmentRules,
  options: { readonly virtualEnv: string | undefined; readonly pluginFolder: string },
): Record<string, string> {
  const allowed = programEnvironment(from, rules);
  const { virtualEnv, pluginFolder } = options;
  if (virtualEnv !== undefined) {
    allowed['VIRTUAL_ENV'] = virtualEnv;
    allowed['PATH'] = [join(virtualEnv, 'bin'), allowed['PATH'] ?? ''].join(delimiter);
  }
  allowed['PLUGIN_DIR'] = pluginFolder;
  allowed['INFLUXDB3_PLUGIN_DIR'] = pluginFolder;
  // Schedule times have no time zone, and plugins interpret them as UTC.
  allowed['TZ'] = 'UTC';
  return allowed;
}

function pick(from: Variables, isWanted: (name: string) => boolean): Record<string, string> {
  const allowed: Record<string, string> = {};
  for (const [name, value] of Object.entries(from)) {
    if (value !== undefined && isWanted(name)) allowed[name] = value;
  }
  return allowed;
}
