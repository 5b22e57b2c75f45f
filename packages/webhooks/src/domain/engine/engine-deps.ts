import type { AttemptDeps, AttemptSettings } from './attempts.js';
import type { QueueCleanup } from './queue-cleanup.js';

export interface EngineSettings extends AttemptSettings {
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

export interface EngineDeps extends Omit<AttemptDeps, 'metrics' | 'settings'> {
  readonly settings: EngineSettings;
  readonly queueCleanup: Pick<QueueCleanup, 'schedule'>;
}
