import type { Clock, HeaderList, Pass } from '@plinth/kernel';
import type { RateLimitConfig } from '../../config.js';
import type { Limiter, Outcome } from '../../domain/limiter.js';
import type { RequestCharge } from '../../domain/request-charge.js';
import { rateLimitError } from '../../errors.js';
import type { Caller } from '../../model/caller.js';
import { type Plan, windowSecOf } from '../../model/plan.js';
import { headerList, limitedByHeaderOf } from './headers.js';
import { type Refusal, type RefusalContext, refusalOf, unavailableRefusal } from './refusal.js';

export interface AdmitDeps {
  readonly config: RateLimitConfig;
  readonly limiter: Limiter;
  readonly clock: Clock;
}

export interface LimitedRequest {
  readonly caller: Caller;
  readonly plan: Plan;
  /** Service label in metrics. */
  readonly service: string;
  /** Called only when a refusal has to be formatted. */
  context(): RefusalContext;
}

/** A refusal in the format of the requested service, with rate limit headers. */
export interface FormattedRefusal {
  readonly refusal: Refusal;
  readonly headers: HeaderList;
}

const NO_HEADERS: HeaderList = [];

/** Result for a request that is not counted. */
export const UNLIMITED: Pass = { begin() {}, settle: () => NO_HEADERS, finish() {} };

/** Admits an HTTP request, for both the gate and the middleware. */
export function admitRequest(
  deps: AdmitDeps,
  limited: LimitedRequest,
): Pass | FormattedRefusal | Promise<Pass | FormattedRefusal> {
  const { limiter } = deps;
  return orUnavailable(
    limited,
    () => limiter.admit(limited.caller, limited.plan, limited.service),
    (outcome) => formatOutcome(deps, limited, outcome),
  );
}

/** Queries a store, synchronously if possible. Returns a refusal when the store is unavailable. */
export function orUnavailable<Found, Then>(
  limited: Pick<LimitedRequest, 'context'>,
  find: () => Found | Promise<Found>,
  then: (found: Found) => Then | Promise<Then>,
): Then | FormattedRefusal | Promise<Then | FormattedRefusal> {
  const fail = (error: unknown): FormattedRefusal => {
    if (!rateLimitError.is(error, 'store_unavailable')) throw error;
    return { refusal: unavailableRefusal(limited.context()), headers: NO_HEADERS };
  };
  let found: Found | Promise<Found>;
  try {
    found = find();
  } catch (error) {
    return fail(error);
  }
  return found instanceof Promise ? found.then(then, fail) : then(found);
}

function formatOutcome(
  { config, clock }: AdmitDeps,
  { caller, context }: LimitedRequest,
  { admission, isRefused, charge }: Outcome,
): Pass | FormattedRefusal {
  const windowSec = windowSecOf(caller, admission.plan);
  const hasIetfHeaders = config.ietf_headers;
  const headers = (): HeaderList => headerList(admission, { windowSec, clock, hasIetfHeaders });
  if (isRefused) {
    const named: HeaderList =
      config.limited_by_header && admission.limitedBy !== undefined
        ? [[limitedByHeaderOf(config), admission.limitedBy]]
        : NO_HEADERS;
    const refusal = refusalOf(caller, admission, context());
    return { refusal, headers: [...headers(), ...named] };
  }
  return charge === undefined
    ? { ...UNLIMITED, settle: headers }
    : new LimitedPass(charge, headers);
}

class LimitedPass implements Pass {
  readonly #charge: RequestCharge;
  readonly #headers: () => HeaderList;

  /** @param headers returns the state of the charged bucket at the time of the call. */
  constructor(charge: RequestCharge, headers: () => HeaderList) {
    this.#charge = charge;
    this.#headers = headers;
  }

  begin(): void {
    this.#charge.begin();
  }

  settle(status: number): HeaderList {
    this.#charge.settle(status);
    return this.#headers();
  }

  finish(): void {
    this.#charge.finish();
  }
}
