import { inputCheck, isObject, type Random, requestError } from '@plinth/kernel';
import type { RateLimitConfig } from '../config.js';
import type { DecisionService, Understood } from '../domain/decision-service.js';
import { Question } from './description.js';
import { readQuestion } from './question.js';
import {
  type ResponseContext,
  tooManyObjects,
  toWireResponse,
  type WireResponse,
} from './wire-response.js';

/** Far more than a thousand checks need. */
export const MAX_BODY_BYTES = 1_048_576;

interface AskDeps {
  readonly config: RateLimitConfig;
  readonly decisions: DecisionService;
  readonly random: Random;
}

/** Checks one request. Throws `ValidationFailed`, `question_invalid` and `store_unavailable`. */
export async function checkOne(
  deps: AskDeps,
  body: Question,
  context: ResponseContext,
): Promise<WireResponse> {
  return await checkUnderstood(deps, await understand(deps, body), context);
}

const checkQuestion = inputCheck('body', Question);

/**
 * Like `checkOne` for several requests in order. Charges nothing if one of them is invalid.
 * Also throws `json_unreadable` and `RequestInvalid`.
 */
export async function checkAll(
  deps: AskDeps,
  bodies: readonly unknown[],
  context: ResponseContext,
): Promise<readonly WireResponse[]> {
  const understood: (Understood | 'too_many_objects')[] = [];
  for (const body of bodies) {
    understood.push(await understand(deps, checkQuestion(fieldsOf(body))));
  }
  return await Promise.all(understood.map((each) => checkUnderstood(deps, each, context)));
}

function understand(
  { config, decisions }: AskDeps,
  body: Question,
): Promise<Understood> | 'too_many_objects' {
  const question = readQuestion(body);
  const isTooLarge = question.resource === 'lfs' && question.objects > config.lfs_max_objects;
  return isTooLarge ? 'too_many_objects' : decisions.understand(question);
}

async function checkUnderstood(
  { decisions, random }: AskDeps,
  understood: Understood | 'too_many_objects',
  context: ResponseContext,
): Promise<WireResponse> {
  if (understood === 'too_many_objects') return tooManyObjects(context, random.uuidV4());
  return toWireResponse(await decisions.decide(understood), context);
}

export function fieldsOf(body: unknown): Readonly<Record<string, unknown>> {
  if (!isObject(body)) throw requestError('json_unreadable', 'not_an_object');
  return body;
}
