import { checkAccountsConfig } from '@plinth/accounts';
import { readGivenKey, readTokenFile } from '@plinth/identity';
import { ConfigInvalid, messageOf, NodeFileSystem, networkProblems } from '@plinth/kernel';
import { rateLimitProblems } from '@plinth/ratelimit';
import { memoryShares } from '@plinth/tsdb';
import { backupProblems } from './backup/scheduled-backups.js';
import { readGivenMasterKey } from './folder/master-key.js';
import { readTlsIdentity, type TlsIdentity, tlsSettingsOf } from './port/tls-identity.js';
import { addressProblems, pathProblems } from './setting-problems.js';
import type { Settings } from './settings.js';

/**
 * What only all settings together tell, before anything is begun with them. Throws `ConfigInvalid`, of the combinations
 * with every problem at once.
 * @returns key and certificates; `undefined` when the port speaks no TLS.
 */
export async function checkSettings(settings: Settings): Promise<TlsIdentity | undefined> {
  const tls = tlsSettingsOf(settings.server);
  refuseUnusableSettings(settings);
  refuseUnusableCollector(settings);
  memoryShares(settings.tsdb);
  const unusable = await pathProblems(settings);
  if (unusable.length > 0) throw new ConfigInvalid(unusable);
  checkBootstrapKeys(settings);
  await checkSecrets(settings);
  return tls && (await readTlsIdentity(tls));
}

/** What a start reads later: files of secrets. */
async function checkSecrets({ server, identity }: Settings): Promise<void> {
  await readGivenMasterKey(server);
  const { admin_token_file: file } = identity;
  if (file === undefined) return;
  await readTokenFile(new NodeFileSystem(), file).catch((error: unknown) => {
    throw new ConfigInvalid([`identity.admin_token_file: ${messageOf(error)}`]);
  });
}

/** Keys of platforms that are given. */
function checkBootstrapKeys({ server, accounts }: Settings): void {
  if (!server.services.includes('accounts')) return;
  try {
    for (const { text } of checkAccountsConfig(accounts)) readGivenKey(text);
  } catch (error) {
    throw new ConfigInvalid([`accounts.bootstrap_keys: ${messageOf(error)}`]);
  }
}

/** What only all settings together tell; every problem at once. A proxy that nobody may be would let no connection in as its own. */
function refuseUnusableSettings(settings: Settings): void {
  const { server, rateLimit, backup } = settings;
  const { proxy_protocol, trusted_proxies } = server;
  const problems = [
    ...networkProblems('server.trusted_proxies', trusted_proxies),
    ...rateLimitProblems(rateLimit),
    ...backupProblems(backup),
    ...addressProblems(settings),
  ];
  if (proxy_protocol && trusted_proxies.length === 0) {
    problems.push(
      'server.proxy_protocol: needs the networks of the proxies in server.trusted_proxies',
    );
  }
  if (problems.length > 0) throw new ConfigInvalid(problems);
}

/** `fetch` takes no URL with a login, and its error shows it. */
function refuseUnusableCollector({ server: { otlp_traces_url: text } }: Settings): void {
  if (text === undefined) return;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.username === '' && url.password === '') return;
  throw new ConfigInvalid([
    url === undefined
      ? 'server.otlp_traces_url: is no URL'
      : 'server.otlp_traces_url: user names and passwords are not sent: leave them out, and let a collector on this machine or network add them',
  ]);
}
