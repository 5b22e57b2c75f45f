import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import {
  type ClientAddresses,
  type Clock,
  DiskSpace,
  type Logger,
  Metrics,
  type Random,
  type RelationalOutbox,
  SystemClock,
  SystemRandom,
} from '@plinth/kernel';
import { preloadTsdb } from '@plinth/tsdb';
import { CatalogCheck } from '../folder/catalog-check.js';
import { CatalogSnapshots } from '../folder/catalog-snapshots.js';
import type { DataFolder } from '../folder/data-folder.js';
import { STORE_FILE } from '../folder/file-names.js';
import { SharedSettingsCheck } from '../folder/shared-settings-check.js';
import { openStores, type Stores } from '../folder/stores.js';
import { AUDIT_FOLDER, AuditLog } from '../operator/audit-log.js';
import { openTraces, type Traces } from '../process/open-traces.js';
import { openOutbox } from '../services/outbox.js';
import { clientAddressesOf } from '../services/ratelimit.js';
import { Reports } from '../services/reports.js';
import type { Settings } from '../settings.js';
import type { Closers } from './closers.js';

/** The foundation of every service: the disk, the stores and the logs. */
export interface Foundation {
  readonly settings: Settings;
  readonly log: Logger;
  readonly clock: Clock;
  readonly random: Random;
  readonly metrics: Metrics;
  readonly addresses: ClientAddresses;
  readonly folder: DataFolder;
  readonly space: DiskSpace;
  readonly stores: Stores;
  readonly catalogCheck: CatalogCheck;
  readonly traces: Traces;
  readonly audit: AuditLog;
  readonly outbox: RelationalOutbox;
  readonly reports: Reports;
}

/** Returns the thread of the store if it was started before. */
export type TakeStoreThread = () => Worker | undefined;

/** Opens the data folder, the stores and the logs. The caller closes `closers`, also on failure. */
export async function openFoundation(
  given: {
    readonly settings: Settings;
    readonly log: Logger;
    readonly folder: DataFolder;
    readonly takeStoreThread: TakeStoreThread | undefined;
    readonly clock: Clock | undefined;
  },
  closers: Closers,
): Promise<Foundation> {
  const { settings, log, folder, clock = new SystemClock() } = given;
  const random = new SystemRandom(clock);
  const addresses = clientAddressesOf(settings);
  const metrics = new Metrics();
  metrics.observeProcess();
  closers.add(() => metrics.close());
  const space = await DiskSpace.open({
    ...{ files: folder.files, folder: folder.path, clock, log },
    minFreeBytes: settings.storage.min_free_bytes,
    reserveBytes: settings.storage.reserve_bytes,
  });
  closers.add(() => space.close());
  await folder.prepareForUse(log);
  // The store thread starts while code is loaded.
  const opening = openStores({
    ...{ folder, settings: settings.server, repair: settings.tsdb.repair },
    ...{ clock, random, log, diskSpace: space, takeThread: given.takeStoreThread },
  });
  if (settings.server.services.includes('tsdb')) preloadTsdb();
  const stores = await opening;
  closers.add(() => stores.close());
  const catalogCheck = watchCatalog({ settings, stores, clock, log }, closers);
  await checkSharedSettings({ settings, stores, clock, log }, closers);
  const traces = openTraces(settings.server, { metrics, clock, random, log });
  closers.add(() => traces.close());
  const audit = new AuditLog({
    folder: join(stores.dataDir, AUDIT_FOLDER),
    ...{ files: stores.files, clock, log },
  });
  closers.add(() => audit.close());
  await audit.open();
  const outbox = openOutbox({ stores, settings: settings.server, clock, random, log });
  // Runs together with the preparation of the first services; a failure appears at its start.
  outbox.prepare().catch(() => undefined);
  return {
    ...{ settings, log, clock, random, metrics, addresses, folder, space, stores },
    ...{ catalogCheck, traces, audit, outbox },
    reports: new Reports({ settings, stores, outbox, log }),
  };
}

type StoreParts = Pick<Foundation, 'settings' | 'stores' | 'clock' | 'log'>;

/** Starts the check of `plinth.db`, and its regular snapshots. */
function watchCatalog({ settings, stores, clock, log }: StoreParts, closers: Closers) {
  const { files, dataDir } = stores;
  const check = new CatalogCheck({ files, path: join(dataDir, STORE_FILE), log });
  closers.add(() => check.close());
  check.start();
  const snapshots = new CatalogSnapshots({
    ...{ files, dataDir, clock, log },
    intervalSec: settings.server.catalog_snapshot_interval_sec,
  });
  closers.add(() => snapshots.close());
  snapshots.start();
  return check;
}

/** Rejects when another node of the same database runs with other settings. */
async function checkSharedSettings(
  { settings, stores, clock, log }: StoreParts,
  closers: Closers,
): Promise<void> {
  const { shared, folderId } = stores;
  if (shared === undefined) return;
  const check = await SharedSettingsCheck.join({
    ...{ store: shared, folder: folderId, settings, clock, log },
  });
  closers.add(() => check.close());
}
