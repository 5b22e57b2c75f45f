import { IdentityNotFound, InstallationOfOtherApp } from '@plinth/identity';
import { createRateLimit, type RateLimit } from '@plinth/ratelimit';
import type { ServiceParts } from './service-parts.js';

export function openRateLimit(parts: ServiceParts): RateLimit {
  const { settings, stores, identity, metrics, clock, random, log } = parts;
  const { registry } = identity;
  return createRateLimit({
    config: settings.rateLimit,
    addresses: {
      trustedProxies: settings.server.trusted_proxies,
      header: settings.server.client_address_header.toLowerCase(),
    },
    credentials: {
      resolve: (authorization) => identity.resolveCredential(authorization),
      profiles: {
        get version() {
          return registry.version;
        },
        read: (key) => registry.findProfile(key),
      },
      async mint(appId, installationId) {
        try {
          const { credential, text } = await registry.issueForInstallation(appId, installationId);
          const expiresMs = credential.expiresMs ?? 0;
          const expires_at = new Date(expiresMs).toISOString().replace(/\.\d{3}Z$/, 'Z');
          return { token: text, expires_at };
        } catch (error) {
          const isUnknown =
            error instanceof IdentityNotFound || error instanceof InstallationOfOtherApp;
          if (isUnknown) return undefined;
          throw error;
        }
      },
    },
    ownsMeta: !settings.server.services.includes('webhooks'),
    metrics,
    relational: stores.relational,
    clock,
    random,
    log,
  });
}
