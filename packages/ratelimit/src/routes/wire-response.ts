import type { Clock } from '@plinth/kernel';
import { type RateLimitConfig, serviceRule } from '../config.js';
import type { CheckResult } from '../domain/decision-service.js';
import { windowSecOf } from '../model/plan.js';
import { headerList, limitedByHeaderOf } from './gate/headers.js';
import { isPrimaryRefusal, refusalOf } from './gate/refusal.js';

/** A decision, with the response that other systems forward to their clients. */
export interface WireResponse {
  readonly allowed: boolean;
  readonly limit_kind: string | null;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: object | null;
  readonly retry_after: number | null;
  readonly lease_id: string | null;
  /** Only for a dry run with a count. */
  readonly allowed_count?: number;
}

export interface ResponseContext {
  readonly config: RateLimitConfig;
  readonly docsBase: string;
  readonly clock: Clock;
}

const LFS = 'lfs';
const LFS_STATUS = 429;

/** Source: rate-limits, sections 4.2 and 12.1. */
export function toWireResponse(result: CheckResult, context: ResponseContext): WireResponse {
  const { caller, plan, decision, leaseId } = result;
  const { config, docsBase, clock } = context;
  const at = { windowSec: windowSecOf(caller, plan), clock, hasIetfHeaders: config.ietf_headers };
  const headers: Record<string, string> = Object.fromEntries(headerList({ ...decision, plan }, at));
  if (!result.isRefused || decision.limitedBy === undefined) {
    return {
      allowed: true,
      limit_kind: null,
      status: 200,
      headers,
      body: null,
      retry_after: null,
      lease_id: leaseId ?? null,
    };
  }
  if (config.limited_by_header) headers[limitedByHeaderOf(config)] = decision.limitedBy;
  const rule = serviceRule(config, 'ratelimit');
  const refusal = refusalOf(caller, decision, { config, rule, docsBase, requestId: undefined });
  const { retryAfterSec } = refusal;
  if (retryAfterSec !== undefined) headers['retry-after'] = String(retryAfterSec);
  const rest = { allowed: false, limit_kind: decision.limitedBy, headers, lease_id: null };
  const retry_after = retryAfterSec ?? null;
  if (plan.isGraph && isPrimaryRefusal(decision)) {
    // Clients of a GraphQL API expect errors in the body.
    const message = Reflect.get(refusal.body, 'message');
    const body = { errors: [{ type: 'RATE_LIMITED', message }] };
    return { ...rest, status: 200, body, retry_after };
  }
  if (plan.resource.name === LFS) {
    const body = { ...refusal.body, status: String(LFS_STATUS) };
    return { ...rest, status: LFS_STATUS, body, retry_after };
  }
  return { ...rest, status: refusal.status, body: refusal.body, retry_after };
}

/**
 * A batch with too many large files is rejected before anything is counted. Source: rate-limits,
 * section 4.2.
 */
export function tooManyObjects(context: ResponseContext, requestId: string): WireResponse {
  return {
    allowed: false,
    limit_kind: 'lfs_objects',
    status: 413,
    headers: {},
    body: {
      message: `A batch can contain at most ${context.config.lfs_max_objects} objects.`,
      documentation_url: `${context.docsBase}/rest`,
      request_id: requestId,
    },
    retry_after: null,
    lease_id: null,
  };
}
