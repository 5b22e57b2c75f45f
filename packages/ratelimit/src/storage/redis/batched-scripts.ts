import type { ScriptResponse } from './redis-admission.js';

/** One call runs for less than a millisecond, so that it does not delay other Redis clients. */
const MAX_COUNT = 64;
/** Error of a cluster, or of a proxy in front of one. */
const IS_OF_SEVERAL_SLOTS = /CROSSSLOT/;

/** All keys of an identity are in the same slot. */
export type QuestionKeys = readonly [primary: string, ban: string];

interface Question {
  readonly keys: QuestionKeys;
  readonly args: readonly number[];
  readonly resolve: (response: ScriptResponse) => void;
  readonly reject: (error: unknown) => void;
}

type Responses = readonly (ScriptResponse | Error)[];

/** Sends all requests in one call. The result of a single request may be an error. */
export type Send = (
  keys: readonly string[],
  args: readonly number[],
  /** Receives results that arrive after the promise was rejected. */
  onLate: (responses: Responses) => void,
) => Promise<Responses>;

/** Receives decisions that arrive after their callers timed out. */
export type OnLateReply = (
  keys: QuestionKeys,
  args: readonly number[],
  response: ScriptResponse,
) => void;

/**
 * Combines the requests of one event-loop tick into one script call, because a call costs several
 * times as much as a decision.
 * Each request is decided as if it were sent separately, in order.
 */
export class BatchedScripts {
  readonly #send: Send;
  readonly #seeLate: OnLateReply;
  #isOfSeveralSlots = false;
  #waiting: Question[] = [];

  constructor(send: Send, seeLate: OnLateReply = () => {}) {
    this.#send = send;
    this.#seeLate = seeLate;
  }

  run(keys: QuestionKeys, args: readonly number[]): Promise<ScriptResponse> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ keys, args, resolve, reject });
      if (this.#waiting.length === 1) setImmediate(() => this.#sendWaiting());
    });
  }

  #sendWaiting(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    if (this.#isOfSeveralSlots) this.#sendByIdentity(waiting);
    else this.#sendInParts(waiting);
  }

  /** Requests of one identity can be combined on any cluster. */
  #sendByIdentity(questions: readonly Question[]): void {
    const byIdentity = new Map<string, Question[]>();
    for (const question of questions) {
      const [, ban] = question.keys;
      const known = byIdentity.get(ban);
      if (known === undefined) byIdentity.set(ban, [question]);
      else known.push(question);
    }
    for (const own of byIdentity.values()) this.#sendInParts(own);
  }

  #sendInParts(questions: readonly Question[]): void {
    for (let from = 0; from < questions.length; from += MAX_COUNT) {
      void this.#sendOne(questions.slice(from, from + MAX_COUNT));
    }
  }

  async #sendOne(questions: readonly Question[]): Promise<void> {
    try {
      const keys = questions.flatMap((question) => question.keys);
      const args = questions.flatMap((question) => question.args);
      const responses = await this.#send(keys, args, (late) => this.#reportLate(questions, late));
      for (const [index, { resolve, reject }] of questions.entries()) {
        const response = responses[index] as ScriptResponse | Error; // the script returns one result per request
        if (response instanceof Error) reject(response);
        else resolve(response);
      }
    } catch (error) {
      if (isOfSeveral(questions) && IS_OF_SEVERAL_SLOTS.test(String(error))) {
        // Redis rejects such a call before running it.
        this.#isOfSeveralSlots = true;
        this.#sendByIdentity(questions);
        return;
      }
      for (const { reject } of questions) reject(error);
    }
  }

  #reportLate(questions: readonly Question[], responses: Responses): void {
    for (const [index, { keys, args }] of questions.entries()) {
      const response = responses[index] as ScriptResponse | Error; // the script returns one result per request
      if (!(response instanceof Error)) this.#seeLate(keys, args, response);
    }
  }
}

const isOfSeveral = ([first, ...others]: readonly Question[]): boolean =>
  others.some(({ keys }) => keys[1] !== first?.keys[1]);
