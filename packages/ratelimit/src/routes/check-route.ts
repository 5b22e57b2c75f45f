import {
  asOutage,
  type Clock,
  JsonUnreadable,
  type Logger,
  type PlainAnswer,
  type PlainRequest,
  type PlainRoute,
  platformFailure,
  type Random,
  refuseExcessiveJson,
  ValidationFailed,
} from '@plinth/kernel';
import type { RateLimitConfig } from '../config.js';
import type { DecisionDesk, Understood } from '../domain/decision-desk.js';
import { type AnswerContext, tooManyObjects, toWireAnswer, type WireAnswer } from './answer.js';
import { docsBaseAt } from './docs-base.js';
import { readQuestion } from './question.js';
import { messageOf, statusOf } from './to-wire.js';

export const CHECK_PATH = '/ops/v1/rate-limits/check';

export interface CheckNeeds {
  readonly config: RateLimitConfig;
  readonly desk: DecisionDesk;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

const JSON_HEADERS = [['content-type', 'application/json; charset=utf-8']] as const;

/**
 * One question of another system. Such systems ask before each request of their own: what the framework would cost is
 * several times what the decision does.
 */
export class CheckRoute implements PlainRoute {
  readonly methods = ['POST'] as const;
  readonly path = CHECK_PATH;
  readonly access = 'admin';
  readonly front = 'operator';
  readonly #needs: CheckNeeds;

  constructor(needs: CheckNeeds) {
    this.#needs = needs;
  }

  async answer({ base, body }: PlainRequest): Promise<PlainAnswer> {
    const { config, clock, log } = this.#needs;
    try {
      const context = { config, docsBase: docsBaseAt(config, base), clock };
      return answerWith(200, await checkOne(this.#needs, parseBody(body), context));
    } catch (error) {
      const failure = failureOf(error, base, log);
      const answer = answerWith(failure.status, platformFailure(failure));
      const outage = asOutage(error);
      if (outage === undefined) return answer;
      const retryAfter = ['retry-after', String(outage.retryAfterSec)] as const;
      return { ...answer, headers: [...answer.headers, retryAfter] };
    }
  }
}

function answerWith(status: number, body: object): PlainAnswer {
  return { status, headers: JSON_HEADERS, body: Buffer.from(JSON.stringify(body)) };
}

type AskNeeds = Pick<CheckNeeds, 'config' | 'desk' | 'random'>;

/** Throws `JsonUnreadable`, `ValidationFailed`, `QuestionInvalid` and `StoreUnavailable`. */
export async function checkOne(
  needs: AskNeeds,
  body: unknown,
  context: AnswerContext,
): Promise<WireAnswer> {
  return await checkUnderstood(needs, await understand(needs, body), context);
}

/** As `checkOne`, one after the other; nothing is charged when one of them cannot be answered. */
export async function checkAll(
  needs: AskNeeds,
  bodies: readonly unknown[],
  context: AnswerContext,
): Promise<readonly WireAnswer[]> {
  const understood: (Understood | 'too_many_objects')[] = [];
  for (const body of bodies) understood.push(await understand(needs, body));
  return await Promise.all(understood.map((each) => checkUnderstood(needs, each, context)));
}

async function understand(
  { config, desk }: AskNeeds,
  body: unknown,
): Promise<Understood | 'too_many_objects'> {
  const question = readQuestion(fieldsOf(body));
  const isTooLarge = question.resource === 'lfs' && question.objects > config.lfs_max_objects;
  return isTooLarge ? 'too_many_objects' : await desk.understand(question);
}

async function checkUnderstood(
  { desk, random }: AskNeeds,
  understood: Understood | 'too_many_objects',
  context: AnswerContext,
): Promise<WireAnswer> {
  if (understood === 'too_many_objects') return tooManyObjects(context, random.uuidV4());
  return toWireAnswer(await desk.decide(understood), context);
}

export function fieldsOf(body: unknown): Readonly<Record<string, unknown>> {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new JsonUnreadable('not_an_object');
  }
  return body as Readonly<Record<string, unknown>>; // just checked
}

/** JSON whatever the content type says; nothing is an empty object. */
export function parseBody(bytes: Uint8Array): unknown {
  if (bytes.length === 0) return {};
  try {
    refuseExcessiveJson(bytes);
    return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString());
  } catch {
    throw new JsonUnreadable('not_json');
  }
}

/** What goes wrong in the dialect of everything below `/ops/v1`. */
export function failureOf(
  error: unknown,
  base: string,
  log: Logger,
): Parameters<typeof platformFailure>[0] {
  const documentationUrl = `${base}/docs/operator`;
  if (error instanceof ValidationFailed) {
    const { message, errors } = error;
    return { status: 422, message, errors, documentationUrl };
  }
  if (error instanceof JsonUnreadable) {
    return { status: 400, message: error.message, documentationUrl };
  }
  const status = statusOf(error);
  if (status >= 500 && asOutage(error) === undefined) log.error({ err: error }, 'request failed');
  return { status, message: messageOf(error, status), documentationUrl };
}
