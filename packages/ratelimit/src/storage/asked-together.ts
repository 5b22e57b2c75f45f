import type { ScriptAnswer } from './redis-admission.js';

/** One call runs for less than a millisecond, so that others of Redis' clients do not wait for it. */
const MAX_COUNT = 64;
/** Redis serves one shard of a cluster, or stands behind a proxy that does. */
const IS_OF_SEVERAL_SLOTS = /CROSSSLOT/;

interface Question {
  readonly keys: readonly [primary: string, ban: string];
  readonly args: readonly number[];
  readonly resolve: (answer: ScriptAnswer) => void;
  readonly reject: (error: unknown) => void;
}

/** Sends all of these in one call; an error in place of an answer is that of one question. */
export type Send = (
  keys: readonly string[],
  args: readonly number[],
) => Promise<readonly (ScriptAnswer | Error)[]>;

/**
 * Puts the questions of one turn of the event loop into one script call: a call costs client and server several times
 * what a decision does. Each is decided as if it came alone, in the order in which they were asked.
 */
export class AskedTogether {
  readonly #send: Send;
  #maxCount = MAX_COUNT;
  #waiting: Question[] = [];

  constructor(send: Send) {
    this.#send = send;
  }

  ask(keys: Question['keys'], args: readonly number[]): Promise<ScriptAnswer> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ keys, args, resolve, reject });
      if (this.#waiting.length === 1) setImmediate(() => this.#sendWaiting());
    });
  }

  #sendWaiting(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (let from = 0; from < waiting.length; from += this.#maxCount) {
      void this.#sendOne(waiting.slice(from, from + this.#maxCount));
    }
  }

  async #sendOne(questions: readonly Question[]): Promise<void> {
    try {
      const keys = questions.flatMap((question) => question.keys);
      const args = questions.flatMap((question) => question.args);
      const answers = await this.#send(keys, args);
      for (const [index, { resolve, reject }] of questions.entries()) {
        const answer = answers[index] as ScriptAnswer | Error; // The script answers each.
        if (answer instanceof Error) reject(answer);
        else resolve(answer);
      }
    } catch (error) {
      if (questions.length > 1 && IS_OF_SEVERAL_SLOTS.test(String(error))) {
        // Refused before anything ran. Identities lie in different slots, and each has all of its keys in one.
        this.#maxCount = 1;
        for (const question of questions) void this.#sendOne([question]);
        return;
      }
      for (const { reject } of questions) reject(error);
    }
  }
}
