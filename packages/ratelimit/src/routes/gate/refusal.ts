import type { RateLimitConfig, ServiceRule, Style } from '../../config.js';
import type { Caller } from '../../model/caller.js';
import type { Decision, LimitKind } from '../../model/decision.js';

/** A response that rejects a request, in the format of the requested service. */
export interface Refusal {
  readonly status: number;
  readonly contentType: string;
  readonly body: object;
  /** `undefined` omits the `retry-after` header. */
  readonly retryAfterSec: number | undefined;
}

export interface RefusalContext {
  readonly config: RateLimitConfig;
  readonly rule: ServiceRule;
  readonly docsBase: string;
  /** `undefined` if request ids are not shown to clients. */
  readonly requestId: string | undefined;
}

const GUIDE = '/rest/using-the-rest-api/rate-limits-for-the-rest-api';
const SECONDARY =
  'You have exceeded a secondary rate limit. Please wait a few minutes before you try again.';
/** Clients compare the ends of these sentences, so nothing may follow them. */
const CONTENT =
  'You have exceeded a secondary rate limit and have been temporarily blocked from content creation. Please retry your request again later.';
const TOO_MANY_LOGINS = 'Maximum number of login attempts exceeded. Please try again later.';

/** Source: rate-limits, sections 6, 8.3 and 9. */
export function refusalOf(caller: Caller, decision: Decision, context: RefusalContext): Refusal {
  const { config, rule, docsBase } = context;
  const isPrimary = isPrimaryRefusal(decision);
  const status = rule.status ?? (isPrimary ? config.status_primary : config.status_secondary);
  const hasRetryAfter =
    decision.limitedBy !== 'primary' || config.retry_after_on_primary || rule.hasRetryAfter;
  return {
    retryAfterSec: hasRetryAfter ? decision.retryAfterSec : undefined,
    ...formatRefusal(rule.style, {
      status,
      message: isPrimary ? primaryMessage(caller, context) : secondaryMessage(decision),
      documentationUrl: docsBase + GUIDE + (isPrimary ? '' : '#about-secondary-rate-limits'),
      isPrimary,
    }),
  };
}

/**
 * Whether the refusal reports the primary limit. This includes banned callers without remaining
 * requests.
 */
export const isPrimaryRefusal = ({ limitedBy, limit, used }: Decision): boolean =>
  limitedBy === 'primary' || (limitedBy === 'ban' && used >= limit);

function primaryMessage(
  { identityClass, displayName }: Caller,
  { config, requestId }: RefusalContext,
): string {
  const message = `API rate limit exceeded for ${displayName}.`;
  const tail =
    config.support_hint && requestId !== undefined
      ? ` If you reach out to ${config.vendor_name} Support for help, please include the request ID ${requestId}.`
      : '';
  return identityClass === 'ip'
    ? `${message} (But here's the good news: Authenticated requests get a higher rate limit. Check out the documentation for more details.)${tail}`
    : message + tail;
}

const CONTENT_LIMITS: ReadonlySet<LimitKind | undefined> = new Set<LimitKind>([
  'content_minute',
  'content_hour',
]);

const secondaryMessage = ({ limitedBy }: Decision): string =>
  CONTENT_LIMITS.has(limitedBy) ? CONTENT : SECONDARY;

/** Returns the response to an address with too many wrong credentials. */
export function loginRefusal({ rule, docsBase }: RefusalContext): Refusal {
  return {
    retryAfterSec: undefined,
    ...formatRefusal(rule.style, {
      status: 403,
      message: TOO_MANY_LOGINS,
      documentationUrl: `${docsBase}/rest`,
      isPrimary: false,
    }),
  };
}

export function unavailableRefusal({ rule, docsBase }: RefusalContext): Refusal {
  return {
    retryAfterSec: UNAVAILABLE_RETRY_SEC,
    ...formatRefusal(rule.style, {
      status: 503,
      message: 'Service unavailable',
      documentationUrl: `${docsBase}/rest`,
      isPrimary: false,
    }),
  };
}

const UNAVAILABLE_RETRY_SEC = 5;
const GITHUB_TYPE = 'application/json; charset=utf-8';
const PROBLEM_TYPES = 'https://iana.org/assignments/http-problem-types#';

interface RefusalText {
  readonly status: number;
  readonly message: string;
  readonly documentationUrl: string;
  readonly isPrimary: boolean;
}

function formatRefusal(
  style: Style,
  text: RefusalText,
): Pick<Refusal, 'status' | 'contentType' | 'body'> {
  const { status, message, documentationUrl, isPrimary } = text;
  switch (style) {
    case 'github':
      return {
        status,
        contentType: GITHUB_TYPE,
        body: { message, documentation_url: documentationUrl, status: String(status) },
      };
    case 'influxdb':
      return {
        status,
        contentType: 'application/json',
        body: { error: message, data: {} },
      };
    case 'stripe':
      return {
        status,
        contentType: 'application/json',
        body: { error: { type: 'rate_limit', code: 'rate_limit', message } },
      };
    case 'problem': {
      const kind = isPrimary ? 'quota-exceeded' : 'abnormal-usage-detected';
      const type = PROBLEM_TYPES + (status === 503 ? 'temporary-reduced-capacity' : kind);
      return {
        status: status === 403 ? 429 : status,
        contentType: 'application/problem+json',
        body: { type, title: message, status: status === 403 ? 429 : status },
      };
    }
  }
}
