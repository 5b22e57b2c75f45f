import { checkAccountsConfig } from '@plinth/accounts';
import { readGivenKey, readTokenFile } from '@plinth/identity';
import { ConfigInvalid, messageOf, NodeFileSystem, networkProblems } from '@plinth/kernel';
import { rateLimitProblems } from '@plinth/ratelimit';
import { memoryShares, trinoEndpoint } from '@plinth/tsdb';
import { backupProblems } from './backup/scheduled-backups.js';
import { readGivenMasterKey } from './folder/master-key.js';
import { readTlsIdentity, type TlsIdentity, tlsSettingsOf } from './port/tls/tls-identity.js';
import { bucketProblems } from './services/bucket.js';
import { addressProblems, pathProblems } from './setting-problems.js';
import type { Settings } from './settings.js';

/**
 * Checks combinations of settings before startup. Throws `ConfigInvalid` with all problems.
 * @returns TLS key and certificates; `undefined` when the port does not use TLS.
 */
export async function checkSettings(settings: Settings): Promise<TlsIdentity | undefined> {
  const tls = tlsSettingsOf(settings.server);
  refuseUnusableSettings(settings);
  refuseUnusableCollector(settings);
  memoryShares(settings.tsdb);
  if (settings.query.wide_url !== undefined) trinoEndpoint(settings.query.wide_url);
  const unusable = await pathProblems(settings);
  if (unusable.length > 0) throw new ConfigInvalid(unusable);
  checkBootstrapKeys(settings);
  await checkSecrets(settings);
  return tls && (await readTlsIdentity(tls));
}

/** Checks the files with secrets, which are read later during startup. */
async function checkSecrets({ server, identity }: Settings): Promise<void> {
  await readGivenMasterKey(server);
  const { admin_token_file: file } = identity;
  if (file === undefined) return;
  await readTokenFile(new NodeFileSystem(), file).catch((error: unknown) => {
    throw new ConfigInvalid([`identity.admin_token_file: ${messageOf(error)}`]);
  });
}

/** Checks the configured platform keys. */
function checkBootstrapKeys({ server, accounts }: Settings): void {
  if (!server.services.includes('accounts')) return;
  try {
    for (const { text } of checkAccountsConfig(accounts)) readGivenKey(text);
  } catch (error) {
    throw new ConfigInvalid([`accounts.bootstrap_keys: ${messageOf(error)}`]);
  }
}

/** Rejects unusable combinations of settings. PROXY protocol without trusted proxies would reject every connection. */
function refuseUnusableSettings(settings: Settings): void {
  const { server, rateLimit, backup } = settings;
  const { proxy_protocol, trusted_proxies } = server;
  const problems = [
    ...networkProblems('server.trusted_proxies', trusted_proxies),
    ...rateLimitProblems(rateLimit),
    ...backupProblems(backup),
    ...bucketProblems(settings),
    ...addressProblems(settings),
  ];
  if (proxy_protocol && trusted_proxies.length === 0) {
    problems.push('server.proxy_protocol: requires the proxy networks in server.trusted_proxies');
  }
  if (problems.length > 0) throw new ConfigInvalid(problems);
}

/** `fetch` rejects URLs with credentials, and its error message contains them. */
function refuseUnusableCollector({ server: { otlp_traces_url: text } }: Settings): void {
  if (text === undefined) return;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.username === '' && url.password === '') return;
  throw new ConfigInvalid([
    url === undefined
      ? 'server.otlp_traces_url: not a valid URL; use a URL such as http://127.0.0.1:4318/v1/traces'
      : 'server.otlp_traces_url: user name and password are not supported; omit them, and let a local collector add credentials',
  ]);
}
