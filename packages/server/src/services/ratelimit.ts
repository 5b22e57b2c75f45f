import { identityError } from '@plinth/identity';
import { ClientAddresses, isoSeconds } from '@plinth/kernel';
import { createRateLimit, type RateLimit } from '@plinth/ratelimit';
import type { Settings } from '../settings.js';
import type { ServiceParts } from './service-parts.js';

export function openRateLimit(parts: ServiceParts): RateLimit {
  const { settings, stores, identity, reports, metrics, clock, random, log } = parts;
  const { registry } = identity;
  const rateLimit = createRateLimit({
    config: { ...settings.rateLimit, ...namesOf(settings) },
    addresses: parts.addresses,
    credentials: {
      resolve: (authorization) => identity.credentials.resolve(authorization),
      profiles: {
        get version() {
          return registry.version;
        },
        rememberMs: registry.rememberMs,
        read: (key) => registry.findProfile(key),
      },
      async mint(appId, installationId) {
        try {
          const { credential, text } = await registry.issueForInstallation(appId, installationId);
          return { token: text, expires_at: isoSeconds(credential.expiresMs ?? 0) };
        } catch (error) {
          if (identityError.is(error, 'identity_not_found', 'installation_of_other_app'))
            return undefined;
          throw error;
        }
      },
    },
    operatorConventions: identity.conventions,
    serverConventions: parts.conventions,
    ownsMeta: !settings.server.services.includes('webhooks'),
    metrics,
    // Counters in memory belong to this node.
    relational: stores.local,
    onBan: (event) => {
      const payload =
        event.type === 'rate_limit.banned'
          ? { identity: event.ban.identity, until: event.ban.untilSec, level: event.ban.level }
          : { identity: event.identity };
      reports.publish({ type: event.type, payload });
    },
    clock,
    random,
    log,
  });
  identity.useTokenQuota((appKey, base) => rateLimit.countToken(appKey, base));
  return rateLimit;
}

/** Returns the settings for client addresses. */
export const clientAddressesOf = ({ server, rateLimit }: Settings): ClientAddresses =>
  new ClientAddresses({
    trustedProxies: server.trusted_proxies,
    header: server.client_address_header.toLowerCase(),
    ipv4Prefix: rateLimit.ipv4_prefix,
    ipv6Prefix: rateLimit.ipv6_prefix,
    exemptNetworks: rateLimit.exempt_cidrs,
  });

/** Vendor name and documentation URL are shared by all services. */
function namesOf({ server, webhooks }: Settings): {
  readonly vendor_name: string;
  readonly docs_base?: string;
} {
  const { public_url } = server;
  const isGitHub = webhooks.vendor_name === 'GitHub';
  const ownDocs = public_url === undefined || isGitHub ? undefined : `${public_url}/docs`;
  const docs_base = webhooks.docs_base ?? ownDocs;
  return { vendor_name: webhooks.vendor_name, ...(docs_base !== undefined && { docs_base }) };
}
