import { constants } from 'node:fs';
import { access, readFile, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { parseRecoveryBind } from '@plinth/identity';
import { type BindAddress, messageOf, splitBind } from '@plinth/kernel';
import type { ServiceName, Settings } from './settings.js';

const MAX_PORT = 65_535;

/** Returns one line for each invalid URL or port that no pattern checks. The messages omit credentials. */
export function addressProblems(settings: Settings): readonly string[] {
  const { server, identity, accounts, webhooks, rateLimit } = settings;
  const urls: readonly (readonly [string, string | undefined, ServiceName?])[] = [
    ['server.database_url', server.database_url],
    ['webhooks.egress_proxy', webhooks.egress_proxy, 'webhooks'],
    ['accounts.egress_proxy', accounts.egress_proxy, 'accounts'],
    ['rate_limit.redis_url', redisUrlOf(rateLimit), 'ratelimit'],
  ];
  const recovery = identity.admin_token_recovery_http_bind;
  return [
    ...urls
      .filter(([, url, service]) => url !== undefined && runs(settings, service))
      .filter(([, url]) => !URL.canParse(String(url)))
      .map(([setting]) => `${setting}: not a valid URL; check host name and port`),
    ...(recovery !== undefined && parseRecoveryBind(recovery).port > MAX_PORT
      ? [`identity.admin_token_recovery_http_bind: the port is too large; use 1 to ${MAX_PORT}`]
      : []),
    ...(recovery !== undefined &&
    !identity.without_auth &&
    overlaps(parseRecoveryBind(recovery), splitBind(server.http_bind))
      ? ['identity.admin_token_recovery_http_bind: server.http_bind has this port; use another']
      : []),
  ];
}

const EVERY_HOST: ReadonlySet<string> = new Set(['0.0.0.0', '::']);

/** Two listeners cannot use the same port. */
function overlaps(one: BindAddress, other: BindAddress): boolean {
  if (one.port !== other.port || one.port === 0) return false;
  return one.host === other.host || EVERY_HOST.has(one.host) || EVERY_HOST.has(other.host);
}

/** Returns the Redis URL; `undefined` for a socket path, or when counters are not in Redis. */
function redisUrlOf({ enabled, store, redis_url }: Settings['rateLimit']): string | undefined {
  return enabled && store === 'redis' && !redis_url.startsWith('/') ? redis_url : undefined;
}

/** Returns one line for each unusable file or folder that startup needs in addition to the data. Creates nothing. */
export async function pathProblems(settings: Settings): Promise<readonly string[]> {
  const { server, accounts, webhooks, gamedata } = settings;
  const files: readonly (readonly [string, string | undefined, ServiceName])[] = [
    ['webhooks.extra_ca_file', webhooks.extra_ca_file, 'webhooks'],
    ['accounts.extra_ca_file', accounts.extra_ca_file, 'accounts'],
    ['gamedata.admin_token_file', gamedata.admin_token_file, 'gamedata'],
  ];
  const read = files
    .filter(([, , service]) => runs(settings, service))
    .map(([setting, path]) => problemOf(`${setting}: cannot be read`, path, readFile));
  const accessLog = server.access_log === 'off' ? undefined : server.access_log_file;
  const dataDir = server.object_store === 'memory' ? undefined : resolve(server.data_dir);
  const problems = await Promise.all([
    ...read,
    problemOf('server.access_log_file: cannot be opened', accessLog, assertAppendable),
    problemOf('server.data_dir: cannot be used', dataDir, assertFolder),
  ]);
  return problems.filter((problem) => problem !== undefined);
}

const runs = ({ server }: Settings, service: ServiceName | undefined): boolean =>
  service === undefined || server.services.includes(service);

async function problemOf(
  what: string,
  path: string | undefined,
  use: (path: string) => Promise<unknown>,
): Promise<string | undefined> {
  if (path === undefined) return undefined;
  try {
    await use(path);
    return undefined;
  } catch (error) {
    return `${what}: ${messageOf(error)}`;
  }
}

/** A missing file is created at startup. */
async function assertAppendable(path: string): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isDirectory()) throw new Error(`${path} is a folder; use a file`);
  await access(found === undefined ? dirname(resolve(path)) : path, constants.W_OK);
}

/** A missing folder is created at startup. */
async function assertFolder(path: string): Promise<void> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (found !== undefined && !found.isDirectory())
    throw new Error(`${path} is not a folder; use a folder`);
}
