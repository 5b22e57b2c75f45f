import { statfs } from 'node:fs/promises';
import {
  type FreeDiskSpace,
  freeBytesOf,
  type Metrics,
  machineMemoryBytes,
  type RelationalOutbox,
} from '@plinth/kernel';
import type { Stores } from '../folder/stores.js';
import type { Health } from '../health.js';
import { readVersion } from '../product-version.js';

/** Adds server-wide metrics: readiness, dependencies and remaining resources. */
export function observeServer(
  metrics: Metrics,
  options: {
    readonly stores: Pick<Stores, 'local' | 'shared'>;
    readonly health: Health;
    readonly diskSpace: FreeDiskSpace;
    readonly outbox: Pick<RelationalOutbox, 'oldestWaitingMs'>;
    /** The data folder. */
    readonly folder: string;
    /** Returns the expiry of the port's certificate; `undefined` without TLS. */
    certificateExpiryMs(): number | undefined;
  },
): void {
  const { stores, health, outbox, diskSpace, folder } = options;
  const gauge = (name: string, help: string, read: () => number | Promise<number>): void =>
    metrics.gauge({ name, help, read });
  metrics.add({
    name: 'plinth_build_info',
    help: 'Always 1; the label is the running version.',
    type: 'gauge',
    labels: ['version'],
    samples: () => [{ labels: { version: readVersion() }, value: 1 }],
  });
  gauge('plinth_ready', '1 while `/ready` returns OK.', async () =>
    (await health.obstacle()) === undefined ? 1 : 0,
  );
  metrics.add({
    name: 'plinth_store_up',
    help: '1 while the relational store (local, or shared with other nodes) accepts changes.',
    type: 'gauge',
    labels: ['store'],
    async samples() {
      const embedded = { labels: { store: 'embedded' }, value: stores.local.obstacle ? 0 : 1 };
      if (stores.shared === undefined) return [embedded];
      const isUp = (await health.storageObstacle()) === undefined;
      return [embedded, { labels: { store: 'postgresql' }, value: isUp ? 1 : 0 }];
    },
  });
  gauge(
    'plinth_data_disk_size_bytes',
    'Size of the disk that contains the data folder.',
    async () => {
      const { blocks, bsize } = await statfs(folder);
      return blocks * bsize;
    },
  );
  gauge(
    'plinth_data_disk_available_bytes',
    'Free space on the data disk that is available to the server.',
    () => freeBytesOf(folder),
  );
  gauge(
    'plinth_data_disk_writes_refused',
    '1 while writes are rejected because less than `storage.min_free_bytes` is free.',
    () => (diskSpace.obstacle === undefined ? 0 : 1),
  );
  metrics.add({
    name: 'plinth_tls_certificate_expiry_timestamp_seconds',
    help: 'Expiry of the TLS certificate, since 1970-01-01 UTC; absent without TLS.',
    type: 'gauge',
    samples() {
      const expiryMs = options.certificateExpiryMs();
      return expiryMs === undefined ? [] : [{ value: expiryMs / 1000 }];
    },
  });
  gauge('plinth_memory_limit_bytes', 'Memory available to the process.', machineMemoryBytes);
  metrics.add({
    name: 'plinth_outbox_lag_seconds',
    help: 'Age of the oldest event not yet delivered to a subscriber.',
    type: 'gauge',
    labels: ['subscriber'],
    samples: async () =>
      [...(await outbox.oldestWaitingMs())].map(([subscriber, ms]) => ({
        labels: { subscriber },
        value: ms / 1000,
      })),
  });
}
