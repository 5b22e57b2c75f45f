import type { ScriptResponse } from './redis-admission.js';

/** One call runs for less than a millisecond, so that it does not delay other Redis clients. */
const MAX_COUNT = 64;
/** Error of a cluster, or of a proxy in front of one. */
const IS_OF_SEVERAL_SLOTS = /CROSSSLOT/;

/** All keys of an identity are in the same slot. */
export type ScriptKeys = readonly [primary: string, ban: string];

interface ScriptRequest {
  readonly keys: ScriptKeys;
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
  keys: ScriptKeys,
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
  #waiting: ScriptRequest[] = [];

  constructor(send: Send, seeLate: OnLateReply = () => {}) {
    this.#send = send;
    this.#seeLate = seeLate;
  }

  run(keys: ScriptKeys, args: readonly number[]): Promise<ScriptResponse> {
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
  #sendByIdentity(requests: readonly ScriptRequest[]): void {
    const byIdentity = new Map<string, ScriptRequest[]>();
    for (const request of requests) {
      const [, ban] = request.keys;
      const known = byIdentity.get(ban);
      if (known === undefined) byIdentity.set(ban, [request]);
      else known.push(request);
    }
    for (const own of byIdentity.values()) this.#sendInParts(own);
  }

  #sendInParts(requests: readonly ScriptRequest[]): void {
    for (let from = 0; from < requests.length; from += MAX_COUNT) {
      void this.#sendOne(requests.slice(from, from + MAX_COUNT));
    }
  }

  async #sendOne(requests: readonly ScriptRequest[]): Promise<void> {
    try {
      const keys = requests.flatMap((request) => request.keys);
      const args = requests.flatMap((request) => request.args);
      const responses = await this.#send(keys, args, (late) => this.#reportLate(requests, late));
      for (const [index, { resolve, reject }] of requests.entries()) {
        const response = responses[index] as ScriptResponse | Error; // the script returns one result per request
        if (response instanceof Error) reject(response);
        else resolve(response);
      }
    } catch (error) {
      if (isOfSeveral(requests) && IS_OF_SEVERAL_SLOTS.test(String(error))) {
        // Redis rejects such a call before running it.
        this.#isOfSeveralSlots = true;
        this.#sendByIdentity(requests);
        return;
      }
      for (const { reject } of requests) reject(error);
    }
  }

  #reportLate(requests: readonly ScriptRequest[], responses: Responses): void {
    for (const [index, { keys, args }] of requests.entries()) {
      const response = responses[index] as ScriptResponse | Error; // the script returns one result per request
      if (!(response instanceof Error)) this.#seeLate(keys, args, response);
    }
  }
}

const isOfSeveral = ([first, ...others]: readonly ScriptRequest[]): boolean =>
  others.some(({ keys }) => keys[1] !== first?.keys[1]);
