import { delimiter, join } from 'node:path';
import type { PluginUser } from '../plugin-user.js';

type Variables = Readonly<Record<string, string | undefined>>;

/** What a Python needs to start and to find its words and its temporary files; none of them tells a secret. */
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

/** What says where packages come from, by which proxy, and whom to believe; compilers of packages without a wheel. */
const OF_INSTALLERS =
  /^(?:(?:PIP|UV)_\w+|(?:https?|all|no)_proxy|(?:HTTPS?|ALL|NO)_PROXY|SSL_CERT_(?:FILE|DIR)|REQUESTS_CA_BUNDLE|CURL_CA_BUNDLE|NETRC|XDG_(?:CACHE|CONFIG)_HOME|CC|CXX|CFLAGS|CXXFLAGS|LDFLAGS)$/;

export interface EnvironmentRules {
  /** Further variables, by name, that operators let through. */
  readonly names: readonly string[];
  readonly user: PluginUser | undefined;
}

/**
 * What every program of plugins sees of the server's own environment: what is listed, so that no secret is told because
 * nobody thought of it.
 */
export function programEnvironment(
  from: Variables,
  { names, user }: EnvironmentRules,
): Record<string, string> {
  const kept = pick(from, (name) => BASIC.includes(name) || names.includes(name));
  return user === undefined ? kept : { ...kept, HOME: user.home };
}

/** As above, and what a mirror of packages or a proxy needs. */
export function installerEnvironment(
  from: Variables,
  rules: EnvironmentRules,
): Record<string, string> {
  return {
    ...pick(from, (name) => OF_INSTALLERS.test(name)),
    ...programEnvironment(from, rules),
  };
}

/** The environment in which plugins run. Source: processing-engine, "Packages and environment". */
export function pluginEnvironment(
  from: Variables,
  rules: EnvironmentRules,
  at: { readonly virtualEnv: string | undefined; readonly pluginFolder: string },
): Record<string, string> {
  const kept = programEnvironment(from, rules);
  const { virtualEnv, pluginFolder } = at;
  if (virtualEnv !== undefined) {
    kept['VIRTUAL_ENV'] = virtualEnv;
    kept['PATH'] = [join(virtualEnv, 'bin'), kept['PATH'] ?? ''].join(delimiter);
  }
  kept['PLUGIN_DIR'] = pluginFolder;
  kept['INFLUXDB3_PLUGIN_DIR'] = pluginFolder;
  // The time a schedule hands over has no zone; plugins take it for UTC.
  kept['TZ'] = 'UTC';
  return kept;
}

function pick(from: Variables, isWanted: (name: string) => boolean): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(from)) {
    if (value !== undefined && isWanted(name)) kept[name] = value;
  }
  return kept;
}
