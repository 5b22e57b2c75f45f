import type { Caller } from './caller.js';
import type { Ban, BucketUsage, Decision, SecondaryUsage } from './decision.js';
import type { Plan } from './plan.js';
import type { Resource } from './resource.js';

/** What a store gives for one request; it is handed back when the request goes on and ends. */
export type Admission = Decision & { readonly plan: Plan };

export interface WrongLogin {
  readonly address: string;
  /** Whose credentials are counted apart; without it those of the server. */
  readonly service?: string;
}

/**
 * Keeps all counters. `admit` checks every limit and then charges all of them or none, without a gap in between:
 * however many requests run side by side, none is let through too many.
 */
export interface LimitStore {
  admit(caller: Caller, plan: Plan): Admission | Promise<Admission>;
  /** As `admit`, but nothing is charged and no slot is taken. */
  peek(caller: Caller, plan: Plan): Decision | Promise<Decision>;
  /** Gives the primary cost back. At most once per admission. */
  refund(admission: Admission): void;
  /** Gives the slot back before the request ends. */
  releaseSlot(admission: Admission): void;
  /** Calls `charge` about every second until the request ends, so that work under way counts. */
  watchRunning(admission: Admission, charge: () => void): void;
  /** Charges work that has been done. */
  chargeCpu(admission: Admission, cpuMs: number): void;
  /** The request has ended, in whatever way. Twice is harmless. */
  finish(admission: Admission): void;

  /** `undefined` at the index of a resource without an open window. */
  usage(
    key: string,
    resources: readonly Resource[],
  ): readonly (BucketUsage | undefined)[] | Promise<readonly (BucketUsage | undefined)[]>;
  secondaryUsage(key: string): SecondaryUsage | Promise<SecondaryUsage>;
  /**
   * Forgets everything about an identity but its running requests and its ban.
   * @param resources all that there are.
   */
  reset(key: string, resources: readonly Resource[]): void | Promise<void>;

  ban(key: string, durationSec: number): void | Promise<void>;
  /** @returns whether there was one. */
  unban(key: string): boolean | Promise<boolean>;
  banOf(key: string): Ban | undefined | Promise<Ban | undefined>;
  /** Counts a wrong credential of an address among those of all nodes; `undefined`: there are no others. Never rejects. */
  countWrongLogin(login: WrongLogin, windowMs: number): Promise<number> | undefined;

  /** At most `limit`, those that last longest first. */
  bans(limit: number): readonly Ban[] | Promise<readonly Ban[]>;
  /** Identities with the most used of a resource. */
  top(
    resource: Resource,
    limit: number,
  ):
    | readonly { readonly identity: string; readonly used: number }[]
    | Promise<readonly { readonly identity: string; readonly used: number }[]>;

  /** Numbers for the metrics page. */
  readonly stats: StoreStats;
  start(): Promise<void>;
  /** Twice is harmless. */
  close(): Promise<void>;
}

export interface StoreStats {
  readonly bucketCount: number;
  readonly inFlightCount: number;
  readonly banCount: number;
  readonly errorCount: number;
}

/** Values of the secondary limits and of the rule about bans. */
export interface LimitRules {
  readonly concurrency: number;
  readonly pointsRest: number;
  readonly pointsGraph: number;
  readonly cpuMs: number;
  readonly cpuGraphMs: number;
  readonly contentMinute: number;
  readonly contentHour: number;
  readonly heavy: number;
  /** OAuth tokens of one app per hour. */
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

/** Rejections are counted over this time. */
export const REJECTION_WINDOW_MS = 600_000;
/** A ban within this time of the last one lasts twice as long, and none lasts longer. */
export const BAN_MEMORY_MS = 86_400_000;
/** A slot is given back after this time, even if nobody says that its request has ended. */
export const SLOT_LEASE_MS = 600_000;
/** In a shared store a slot is its node's for so long after the node has said last that the request runs. */
export const SLOT_OF_NODE_MS = 12_000;
/** What a client is told to wait when all its slots are taken: how long they run is not known. */
export const CONCURRENCY_RETRY_SEC = 5;
