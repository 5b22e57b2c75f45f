import type { AttemptDeps, AttemptSettings } from './attempts.js';
import type { Endings } from './endings.js';

export interface EngineSettings extends AttemptSettings {
  /** False: this node accepts and answers, others deliver. */
  readonly isWorker: boolean;
  readonly maxInflight: number;
  readonly maxInflightPerApp: number;
  readonly maxInflightPerHost: number;
  /** Attempts per second; undefined: no limit. */
  readonly ratePerApp: number | undefined;
  readonly ratePerHost: number | undefined;
  readonly hasBreaker: boolean;
  readonly maxQueuedPerApp: number;
}

export interface EngineDeps extends Omit<AttemptDeps, 'metrics' | 'settings'> {
  readonly settings: EngineSettings;
  readonly endings: Pick<Endings, 'look'>;
}
