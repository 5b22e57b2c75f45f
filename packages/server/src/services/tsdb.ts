import type { Identity } from '@plinth/identity';
import { createTsdb, type TokenManagement, type Tsdb } from '@plinth/tsdb';
import { readFolderId } from '../folder/folder-id.js';
import { whoOf } from '../operator/audited-requests.js';
import { readProduct } from '../product-version.js';
import { openBucket } from './bucket.js';
import type { ServiceParts } from './service-parts.js';

/** The default of `tsdb.reported_revision`. */
const UNKNOWN_REVISION = 'unknown';

/** @param obstacle the reason that health checks return instead of `OK`. */
export function openTsdb(parts: ServiceParts, obstacle: () => Promise<string | undefined>): Tsdb {
  const { settings, stores, identity, reports, metrics, clock, random, log } = parts;
  const bucket = openBucket(settings, metrics);
  return createTsdb({
    settings: {
      ...settings.tsdb,
      reported_revision: revisionOf(settings.tsdb.reported_revision, readProduct().commit),
    },
    openTables: settings.openTables,
    query: settings.query,
    nodeId: settings.server.node_id,
    tokens: {
      list: () => identity.listTokens(),
      isAuthRequired: !settings.identity.without_auth,
    },
    tokenManagement: settings.identity.without_auth ? undefined : managementOf(identity),
    users: identity.users,
    isCurrent: (principal) => identity.accessControl.isCurrent(principal),
    audit: {
      entries: () => parts.audit.entries(),
      note: (principal, change) => parts.audit.note({ who: whoOf(principal), ...change }),
    },
    conventions: parts.conventions,
    operatorConventions: identity.conventions,
    identify: (request, access) => identity.accessControl.authenticate(request, access),
    dataDir: stores.dataDir,
    fileSystem: stores.files,
    // The catalog describes local files.
    relational: stores.local,
    secrets: stores.secrets,
    objects: stores.objects,
    bucket: bucket && {
      store: bucket,
      folderId: () => readFolderId(stores.dataDir, stores.files, random),
    },
    openLog: (options) => stores.openLog(options),
    diskSpace: stores.diskSpace,
    leases: stores.leases,
    metrics,
    currentSpan: parts.currentSpan,
    clock,
    random,
    log,
    obstacle,
    report: reports.from(stores.local),
  });
}

const managementOf = (identity: Identity): TokenManagement => ({
  list: () => identity.tokens.list(),
  idOf: (text) => identity.tokens.find(text)?.id,
  create: (newToken) => identity.tokens.createNamed({ ...newToken, expirySec: undefined }),
  delete: (name) => identity.tokens.delete(name),
  hasFirst: () => !identity.accessControl.isFirstTokenFree(),
  createFirst: (request) => identity.createFirstToken(request),
});

/** Returns the configured revision, otherwise the commit of the release; unknown in a checkout. */
export const revisionOf = (setting: string, commit: string | undefined): string =>
  setting === UNKNOWN_REVISION ? (commit ?? UNKNOWN_REVISION) : setting;
