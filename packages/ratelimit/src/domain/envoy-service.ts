import { rateLimitError } from '../errors.js';
import { ANY_ENDPOINT, endpointOf } from '../model/endpoint.js';
import type { CheckRequest, CheckResult, DecisionService } from './decision-service.js';

/** Units of the protocol by name, in seconds. Months and years have the lengths of the reference service. */
export const UNIT_SEC = {
  SECOND: 1,
  MINUTE: 60,
  HOUR: 3_600,
  DAY: 86_400,
  WEEK: 604_800,
  MONTH: 2_592_000,
  YEAR: 31_536_000,
} as const;
export type Unit = keyof typeof UNIT_SEC;

export const isUnit = (text: string): text is Unit => Object.hasOwn(UNIT_SEC, text);

/** One check of a proxy. Every descriptor is checked, and none may be over its limit. */
export interface EnvoyRequest {
  readonly descriptors: readonly EnvoyDescriptor[];
  readonly hitsAddend: number;
}

export interface EnvoyDescriptor {
  readonly entries: readonly { readonly key: string; readonly value: string }[];
  /** Replaces the identity's own limit. */
  readonly limit: { readonly requestsPerUnit: number; readonly unit: Unit } | undefined;
  readonly hitsAddend: number | undefined;
}

export interface EnvoyDecision {
  readonly isOverLimit: boolean;
  /** One result per descriptor; `undefined` if the descriptor names no identity, which means no limit. */
  readonly results: readonly (CheckResult | undefined)[];
  /** The result for the headers: the refusal, or the result with the fewest remaining requests. */
  readonly tightest: CheckResult | undefined;
}

const MAX_DESCRIPTOR_COUNT = 100;
const MAX_HITS = 1_000_000;

/** Serves proxies that use Envoy's protocol. Source: rate-limits, section 12.2. */
export class EnvoyService {
  readonly #decisions: DecisionService;

  constructor(decisions: DecisionService) {
    this.#decisions = decisions;
  }

  /** Throws `check_invalid` and `store_unavailable`. */
  async decide(request: EnvoyRequest): Promise<EnvoyDecision> {
    if (request.descriptors.length === 0) {
      throw rateLimitError('check_invalid', 'rate limit descriptor list must not be empty');
    }
    if (request.descriptors.length > MAX_DESCRIPTOR_COUNT) {
      throw rateLimitError(
        'check_invalid',
        `too many descriptors; send at most ${MAX_DESCRIPTOR_COUNT}`,
      );
    }
    const requests = request.descriptors.map((each) => toCheckRequest(each, request.hitsAddend));
    const results: (CheckResult | undefined)[] = [];
    for (const check of requests) {
      results.push(check && (await this.#decisions.check(check)));
    }
    const decided = results.filter((result) => result !== undefined);
    const refusal = decided.find(({ isRefused }) => isRefused);
    return {
      isOverLimit: refusal !== undefined,
      results,
      tightest: refusal ?? decided.sort((a, b) => leftOf(a) - leftOf(b))[0],
    };
  }
}

export const leftOf = ({ decision }: CheckResult): number =>
  Math.max(0, decision.limit - decision.used);

function toCheckRequest(descriptor: EnvoyDescriptor, hitsAddend: number): CheckRequest | undefined {
  const entryOf = (key: string): string | undefined =>
    descriptor.entries.find((entry) => entry.key === key)?.value;
  const cost = descriptor.hitsAddend ?? hitsAddend;
  if (!Number.isInteger(cost) || cost < 0 || cost > MAX_HITS) {
    throw rateLimitError('check_invalid', `hits_addend must be an integer from 0 to ${MAX_HITS}`);
  }
  const key = entryOf('identity');
  const header = entryOf('authorization');
  const ip = entryOf('remote_address');
  const caller: CheckRequest['caller'] | undefined =
    key !== undefined
      ? { by: 'identity', key }
      : header !== undefined && header !== ''
        ? { by: 'authorization', header, ip }
        : ip !== undefined
          ? { by: 'ip', ip }
          : undefined;
  if (caller === undefined) return undefined;
  const path = entryOf('path');
  const { limit } = descriptor;
  return {
    caller,
    resource: entryOf('resource') ?? 'core',
    endpoint: path === undefined ? ANY_ENDPOINT : endpointOf(path),
    method: (entryOf('method') ?? 'GET').toUpperCase(),
    cost,
    // Points are counted per endpoint, which requires a path.
    points: path === undefined ? 0 : undefined,
    content: entryOf('content') === 'true',
    contentPerMinute: undefined,
    graph: false,
    heavy: 0,
    lease: false,
    dryRun: false,
    ...(limit !== undefined && {
      override: { limit: limit.requestsPerUnit, windowSec: UNIT_SEC[limit.unit] },
    }),
  };
}
