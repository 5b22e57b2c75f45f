import { type AccountListener, createAccounts } from '@plinth/accounts';
import { accessOf, type HttpService } from '@plinth/kernel';
import { listenersOf } from './own-listeners.js';
import type { ServiceParts } from './service-parts.js';

/** @param listener told of changes; there is none when webhooks do not run. */
export function openAccounts(
  parts: ServiceParts,
  listener: AccountListener | undefined,
): HttpService {
  const { settings, stores, identity, outbox, clock, random, log } = parts;
  return createAccounts({
    config: settings.accounts,
    store: stores.relational,
    outbox,
    leases: stores.leases,
    clock,
    random,
    files: stores.files,
    log,
    dataDir: stores.dataDir,
    keys: identity.platformKeys,
    listener,
    // Whoever allows a target for one kind of deliveries means the other as well.
    allowedTargets: [
      ...settings.accounts.allow_private_targets,
      ...settings.webhooks.allow_private_targets,
    ],
    ownListeners: listenersOf(settings.server.http_bind),
    checkOperator: (request) => identity.check(request.raw, accessOf(request)),
    announce: (text) => process.stdout.write(text),
  });
}
