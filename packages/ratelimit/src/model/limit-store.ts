import type { Caller } from './caller.js';
import type { Ban, BucketUsage, Decision, SecondaryUsage } from './decision.js';
import type { Plan } from './plan.js';
import type { Resource } from './resource.js';

/** Result of `admit`. Pass it back to the store when the request proceeds and ends. */
export type Admission = Decision & { readonly plan: Plan };

export interface WrongLogin {
  readonly address: string;
  /** Service whose credentials are counted separately; default: the credentials of the server. */
  readonly service?: string;
}

/**
 * Keeps all counters. `admit` checks every limit and then charges all of them or none, atomically.
 * Concurrent requests therefore never exceed a limit.
 */
export interface LimitStore {
  admit(caller: Caller, plan: Plan): Admission | Promise<Admission>;
  /** Like `admit`, but charges nothing and occupies no slot. */
  peek(caller: Caller, plan: Plan): Decision | Promise<Decision>;
  /** Refunds the primary cost. Call at most once per admission. */
  refund(admission: Admission): void;
  /** Releases the slot before the request ends. */
  releaseSlot(admission: Admission): void;
  /**
   * Calls `charge` about once per second until the request ends, so that running handlers are
   * charged too.
   */
  watchRunning(admission: Admission, charge: () => void): void;
  /** Charges handler time. */
  chargeCpu(admission: Admission, cpuMs: number): void;
  /** Ends the request, successful or not. Safe to call twice. */
  finish(admission: Admission): void;

  /** Returns the usage per resource; `undefined` for a resource without an open window. */
  usage(
    key: string,
    resources: readonly Resource[],
  ): readonly (BucketUsage | undefined)[] | Promise<readonly (BucketUsage | undefined)[]>;
  secondaryUsage(key: string): SecondaryUsage | Promise<SecondaryUsage>;
  /**
   * Deletes all counters of an identity, except its running requests and its ban.
   * @param resources all existing resources.
   */
  reset(key: string, resources: readonly Resource[]): void | Promise<void>;

  ban(key: string, durationSec: number): void | Promise<void>;
  /** @returns whether the identity was banned. */
  unban(key: string): boolean | Promise<boolean>;
  banOf(key: string): Ban | undefined | Promise<Ban | undefined>;
  /**
   * Counts a wrong credential of an address across all nodes. `undefined` when the store is not
   * shared. Never rejects.
   */
  countWrongLogin(login: WrongLogin, windowMs: number): Promise<number> | undefined;

  /** Returns at most `limit` bans, those with the longest remaining time first. */
  bans(limit: number): readonly Ban[] | Promise<readonly Ban[]>;
  /** Returns the identities with the highest usage of a resource. */
  top(
    resource: Resource,
    limit: number,
  ):
    | readonly { readonly identity: string; readonly used: number }[]
    | Promise<readonly { readonly identity: string; readonly used: number }[]>;

  /** Values for the metrics endpoint. */
  readonly stats: StoreStats;
  start(): Promise<void>;
  /** Safe to call twice. */
  close(): Promise<void>;
}

export interface StoreStats {
  readonly bucketCount: number;
  readonly inFlightCount: number;
  readonly banCount: number;
  readonly errorCount: number;
}

/** Values of the secondary limits and of the ban rule. */
export interface LimitRules {
  readonly concurrency: number;
  readonly pointsRest: number;
  readonly pointsGraph: number;
  readonly cpuMs: number;
  readonly cpuGraphMs: number;
  readonly contentMinute: number;
  readonly contentHour: number;
  readonly heavy: number;
  /** OAuth tokens per app and hour. */
  readonly tokenHour: number;
  readonly minRetryAfterSec: number;
  readonly banThreshold: number;
  readonly banMs: number;
  readonly isBanEnabled: boolean;
  readonly minuteMs: number;
  readonly hourMs: number;
}

export const DEFAULT_RULES: LimitRules = {
  concurrency: 100,
  pointsRest: 900,
  pointsGraph: 2_000,
  cpuMs: 90_000,
  cpuGraphMs: 60_000,
  contentMinute: 80,
  contentHour: 500,
  heavy: 100,
  tokenHour: 2_000,
  minRetryAfterSec: 1,
  banThreshold: 5_000,
  banMs: 600_000,
  isBanEnabled: true,
  minuteMs: 60_000,
  hourMs: 3_600_000,
};

/** Window in which rejections are counted. */
export const REJECTION_WINDOW_MS = 600_000;
/**
 * A ban within this time of the previous one lasts twice as long. No ban lasts longer than this.
 */
export const BAN_MEMORY_MS = 86_400_000;
/** A slot is released after this time, even if its request never ends. */
export const SLOT_LEASE_MS = 600_000;
/**
 * In a shared store, a slot is released this long after its node's last heartbeat for the request.
 */
export const SLOT_OF_NODE_MS = 12_000;
/** `retry-after` when all slots are taken, because their duration is unknown. */
export const CONCURRENCY_RETRY_SEC = 5;
