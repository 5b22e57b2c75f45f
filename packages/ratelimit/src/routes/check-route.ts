import { inputCheck, isObject, type Random, requestError } from '@plinth/kernel';
import type { RateLimitConfig } from '../config.js';
import type { DecisionService, PreparedCheck } from '../domain/decision-service.js';
import { CheckBody } from './description.js';
import { readCheck } from './read-check.js';
import {
  type ResponseContext,
  tooManyObjects,
  toWireResponse,
  type WireResponse,
} from './wire-response.js';

/** Far more than a thousand checks need. */
export const MAX_BODY_BYTES = 1_048_576;

interface CheckDeps {
  readonly config: RateLimitConfig;
  readonly decisions: DecisionService;
  readonly random: Random;
}

/** Checks one request. Throws `ValidationFailed`, `check_invalid` and `store_unavailable`. */
export async function checkOne(
  deps: CheckDeps,
  body: CheckBody,
  context: ResponseContext,
): Promise<WireResponse> {
  return await checkPrepared(deps, await prepare(deps, body), context);
}

const validateBody = inputCheck('body', CheckBody);

/**
 * Like `checkOne` for several requests in order. Charges nothing if one of them is invalid.
 * Also throws `json_unreadable` and `RequestInvalid`.
 */
export async function checkAll(
  deps: CheckDeps,
  bodies: readonly unknown[],
  context: ResponseContext,
): Promise<readonly WireResponse[]> {
  const prepared: (PreparedCheck | 'too_many_objects')[] = [];
  for (const body of bodies) {
    prepared.push(await prepare(deps, validateBody(fieldsOf(body))));
  }
  return await Promise.all(prepared.map((each) => checkPrepared(deps, each, context)));
}

function prepare(
  { config, decisions }: CheckDeps,
  body: CheckBody,
): Promise<PreparedCheck> | 'too_many_objects' {
  const check = readCheck(body);
  const isTooLarge = check.resource === 'lfs' && check.objects > config.lfs_max_objects;
  return isTooLarge ? 'too_many_objects' : decisions.prepare(check);
}

async function checkPrepared(
  { decisions, random }: CheckDeps,
  prepared: PreparedCheck | 'too_many_objects',
  context: ResponseContext,
): Promise<WireResponse> {
  if (prepared === 'too_many_objects') return tooManyObjects(context, random.uuidV4());
  const result = await decisions.decide(prepared);
  const response = toWireResponse(result, context);
  return prepared.count === undefined
    ? response
    : { ...response, allowed_count: result.fittingCount };
}

export function fieldsOf(body: unknown): Readonly<Record<string, unknown>> {
  if (!isObject(body)) throw requestError('json_unreadable', 'not_an_object');
  return body;
}
