import type { ScriptAnswer } from './redis-admission.js';

/** One call runs for less than a millisecond, so that others of Redis' clients do not wait for it. */
const MAX_COUNT = 64;
/** Redis is a cluster, or stands behind a proxy that is. */
const IS_OF_SEVERAL_SLOTS = /CROSSSLOT/;

/** All keys of an identity lie in the same slot. */
export type QuestionKeys = readonly [primary: string, ban: string];

interface Question {
  readonly keys: QuestionKeys;
  readonly args: readonly number[];
  readonly resolve: (answer: ScriptAnswer) => void;
  readonly reject: (error: unknown) => void;
}

type Answers = readonly (ScriptAnswer | Error)[];

/** Sends all of these in one call; an error in place of an answer is that of one question. */
export type Send = (
  keys: readonly string[],
  args: readonly number[],
  /** Takes answers that come after the promise was rejected. */
  onLate: (answers: Answers) => void,
) => Promise<Answers>;

/** Hears what was decided when nobody waited for it any more. */
export type SeeLate = (keys: QuestionKeys, args: readonly number[], answer: ScriptAnswer) => void;

/**
 * Puts the questions of one turn of the event loop into one script call: a call costs client and server several times
 * what a decision does. Each is decided as if it came alone, in the order in which they were asked.
 */
export class BatchedScripts {
  readonly #send: Send;
  readonly #seeLate: SeeLate;
  #isOfSeveralSlots = false;
  #waiting: Question[] = [];

  constructor(send: Send, seeLate: SeeLate = () => {}) {
    this.#send = send;
    this.#seeLate = seeLate;
  }

  run(keys: QuestionKeys, args: readonly number[]): Promise<ScriptAnswer> {
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

  /** Those of one identity may go together wherever its keys lie. */
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
      const answers = await this.#send(keys, args, (late) => this.#reportLate(questions, late));
      for (const [index, { resolve, reject }] of questions.entries()) {
        const answer = answers[index] as ScriptAnswer | Error; // the script answers each
        if (answer instanceof Error) reject(answer);
        else resolve(answer);
      }
    } catch (error) {
      if (isOfSeveral(questions) && IS_OF_SEVERAL_SLOTS.test(String(error))) {
        // Refused before anything ran.
        this.#isOfSeveralSlots = true;
        this.#sendByIdentity(questions);
        return;
      }
      for (const { reject } of questions) reject(error);
    }
  }

  #reportLate(questions: readonly Question[], answers: Answers): void {
    for (const [index, { keys, args }] of questions.entries()) {
      const answer = answers[index] as ScriptAnswer | Error; // as above
      if (!(answer instanceof Error)) this.#seeLate(keys, args, answer);
    }
  }
}

const isOfSeveral = ([first, ...others]: readonly Question[]): boolean =>
  others.some(({ keys }) => keys[1] !== first?.keys[1]);
