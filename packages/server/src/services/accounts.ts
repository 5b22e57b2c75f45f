import { type AccountListener, createAccounts } from '@plinth/accounts';
import type { EgressSettings, HttpService } from '@plinth/kernel';
import { deliverFirstKeys } from '../folder/first-keys.js';
import type { Settings } from '../settings.js';
import { ownListenersOf } from './own-listeners.js';
import type { ServiceParts } from './service-parts.js';

/** @param listener receives account changes; undefined without the webhook service. */
export function openAccounts(
  parts: ServiceParts,
  listener: AccountListener | undefined,
): HttpService {
  const { settings, stores, identity, outbox, metrics, clock, random, log } = parts;
  return createAccounts({
    config: settings.accounts,
    store: stores.relational,
    outbox,
    leases: stores.leases,
    clock,
    random,
    files: stores.files,
    secrets: stores.secrets,
    log,
    dataDir: stores.dataDir,
    keys: identity.platformKeys,
    listener,
    metrics,
    egress: egressOf(settings),
    ownListeners: ownListenersOf(settings),
    findOperator: (request) => identity.accessControl.findAdmin(request),
    deliverFirstKeys: (keys) => deliverFirstKeys(keys, { stores, log, terminal: process.stdout }),
  });
}

/** Response bodies of event destinations are ignored; reading this much lets connections be reused. */
const MAX_RESPONSE_BYTES = 1024;

/** Event deliveries use the webhook settings unless set separately; allowed private targets are never shared. */
export function egressOf({ accounts, webhooks }: Settings): EgressSettings {
  return {
    allowedTargets: accounts.allow_private_targets,
    allowedPorts: (accounts.allowed_ports ?? webhooks.allowed_ports).map(Number),
    extraCaFile: accounts.extra_ca_file ?? webhooks.extra_ca_file,
    proxy: accounts.egress_proxy ?? webhooks.egress_proxy,
    directHosts: accounts.egress_no_proxy ?? webhooks.egress_no_proxy,
    timeoutMs: accounts.event_timeout_ms,
    maxResponseBytes: MAX_RESPONSE_BYTES,
  };
}
