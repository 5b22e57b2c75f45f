import type { AccountListener } from '@plinth/accounts';
import { createWebhooks, type Webhooks } from '@plinth/webhooks';
import { readVersion } from '../product-version.js';
import { ownListenersOf } from './own-listeners.js';
import type { ServiceParts } from './service-parts.js';

export function openWebhooks(parts: ServiceParts): Webhooks {
  const { settings, stores, identity, outbox, metrics, clock, random, log } = parts;
  const webhooks = createWebhooks({
    config: settings.webhooks,
    store: stores.relational,
    folderId: stores.folderId,
    secrets: stores.secrets,
    files: stores.files,
    leases: stores.leases,
    outbox,
    metrics,
    clock,
    random,
    log,
    tracer: parts.tracer,
    apps: {
      authenticate: (authorization) => identity.authenticateApp(authorization),
      authenticateAnyone: (authorization) => identity.credentials.resolve(authorization),
      find: (selector) => identity.findApp(selector),
      findInstallationApp: async (id) =>
        (await identity.registry.findRecord(`installation:${id}`))?.attributes.app_id,
    },
    version: readVersion(),
    publicUrl: settings.server.public_url,
    localUrl: `${settings.server.tls_key === undefined ? 'http' : 'https'}://${settings.server.http_bind}`,
    ownListeners: ownListenersOf(settings),
    operatorConventions: identity.conventions,
  });
  const { appHooks } = webhooks;
  identity.useAppHooks(appHooks);
  return webhooks;
}

/** Publishes account events to subscribed apps. */
export function accountListener(webhooks: Webhooks | undefined): AccountListener | undefined {
  const events = webhooks?.internalEvents;
  return (
    events && {
      catchUp: () => events.catchUp(),
      isWanted: (type) => events.isWanted(type),
      report: (report) => events.handle(report),
    }
  );
}
