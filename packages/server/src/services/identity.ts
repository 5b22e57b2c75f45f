import { createIdentity, type Identity, type IdentityDeps } from '@plinth/identity';
import type { ApiConventions, Clock, Logger, Random } from '@plinth/kernel';
import { claimCodeDelivery } from '../folder/claim-code.js';
import type { Stores } from '../folder/stores.js';
import type { AuditLog } from '../operator/audit-log.js';
import type { Settings } from '../settings.js';
import type { Reports } from './reports.js';

/** Opens tokens, users and apps, with the port settings they depend on. */
export function openIdentity(deps: {
  readonly settings: Settings;
  readonly stores: Stores;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly conventions: ApiConventions;
  readonly reports: Reports;
  readonly audit: AuditLog;
  readonly countTogether: NonNullable<IdentityDeps['countTogether']>;
  readonly tls: IdentityDeps['tls'];
}): Identity {
  const { settings, stores, log, audit, reports, ...others } = deps;
  const { server } = settings;
  return createIdentity({
    ...others,
    config: settings.identity,
    store: stores.relational,
    files: stores.files,
    log: log.child({ service: 'identity' }),
    pages: {
      bind: server.http_bind,
      publicUrl: server.public_url,
      allowedHosts: server.allowed_hosts,
      origins: server.cors_origins,
    },
    firstToken: {
      policy: server.first_token,
      isBehindProxy:
        server.trusted_proxies.length > 0 ||
        server.proxy_protocol ||
        server.public_url !== undefined,
      proxyHeader: server.client_address_header.toLowerCase(),
      delivery: claimCodeDelivery({ stores, log, terminal: process.stdout }),
    },
    report: reports.from(stores.relational),
    onTokenRecovered: ({ tokenName, address }) =>
      audit.note({
        ...{ who: undefined, address, action: 'recover admin token' },
        ...{ target: `token_name=${tokenName}`, result: 'ok' },
      }),
  });
}
