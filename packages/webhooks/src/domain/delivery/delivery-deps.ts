import type { AttemptDeps, AttemptSettings } from './attempts.js';
import type { QueueCleanup } from './queue-cleanup.js';

export interface DeliverySettings extends AttemptSettings {
  /** If false, this node accepts events and leaves deliveries to other nodes. */
  readonly isWorker: boolean;
  readonly maxInflight: number;
  readonly maxInflightPerApp: number;
  readonly maxInflightPerHost: number;
  /** Maximum attempts per second; undefined if unlimited. */
  readonly ratePerApp: number | undefined;
  readonly ratePerHost: number | undefined;
  readonly hasBreaker: boolean;
  readonly maxQueuedPerApp: number;
}

export interface DeliveryDeps extends Omit<AttemptDeps, 'metrics' | 'settings'> {
  readonly settings: DeliverySettings;
  readonly queueCleanup: Pick<QueueCleanup, 'schedule'>;
}
