import { createHash } from 'node:crypto';
import type { Clock, HttpRequest } from '@plinth/kernel';
import type { Attempt } from '../../domain/edit/draft.js';
import { gameDataError } from '../../errors.js';
import type { CachedReply } from '../../model/edition.js';

/** Where replies are kept. */
export interface ReplyStore {
  keptReply(key: string, actor: string, sinceMs: number): Promise<CachedReply | undefined>;
  keepReply: NonNullable<KeepReply>;
}
type KeepReply = (
  tx: Parameters<NonNullable<Attempt['keep']>>[0],
  reply: CachedReply & { readonly key: string; readonly actor: string; readonly nowMs: number },
) => Promise<void>;

const KEEP_MS = 24 * 3_600_000;
const MAX_KEY_LENGTH = 255;

/** Gives a request with an `Idempotency-Key` the reply that the same one got before. Source: gamedata, section 6.3. */
export class CachedReplies {
  readonly #store: ReplyStore;
  readonly #clock: Clock;
  /** Requests with the same key wait for each other. */
  readonly #running = new Map<string, Promise<unknown>>();

  constructor(store: ReplyStore, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  async run(
    request: HttpRequest,
    actor: string,
    work: (attempt: Attempt) => Promise<unknown>,
  ): Promise<unknown> {
    const key = request.headers['idempotency-key'];
    if (key === undefined) return await work({ actor });
    if (key === '' || key.length > MAX_KEY_LENGTH) {
      const message = `Idempotency-Key must have 1 to ${MAX_KEY_LENGTH} characters`;
      throw gameDataError('invalid_parameter', { param: 'Idempotency-Key', message });
    }
    const slot = `${actor}\n${key}`;
    for (
      let other = this.#running.get(slot);
      other !== undefined;
      other = this.#running.get(slot)
    ) {
      await other.catch(() => undefined); // Told to its own request.
    }
    const result = this.#runOnce(request, { actor, key }, work);
    this.#running.set(slot, result);
    try {
      return await result;
    } finally {
      this.#running.delete(slot);
    }
  }

  async #runOnce(
    request: HttpRequest,
    { actor, key }: { readonly actor: string; readonly key: string },
    work: (attempt: Attempt) => Promise<unknown>,
  ): Promise<unknown> {
    const nowMs = this.#clock.nowMs();
    const bodyHash = createHash('sha256')
      .update(`${request.method} ${request.url}\n`)
      .update(request.body)
      .digest('hex');
    const kept = await this.#store.keptReply(key, actor, nowMs - KEEP_MS);
    if (kept !== undefined) {
      if (kept.bodyHash === bodyHash) return hideRev(JSON.parse(kept.reply));
      throw gameDataError('conflict', {
        message: 'the Idempotency-Key was used for another request',
      });
    }
    return await work({
      actor,
      keep: async (tx, reply) =>
        await this.#store.keepReply(tx, {
          key,
          actor,
          bodyHash,
          status: 200,
          reply: JSON.stringify(reply),
          nowMs,
        }),
    });
  }
}

/** The state that a record had is kept beside its reply, for the header alone. */
function hideRev(reply: unknown): unknown {
  const rev: unknown = Reflect.get(Object(reply), 'rev');
  if (rev === undefined) return reply;
  return Object.defineProperty(Object(reply), 'rev', { value: rev, enumerable: false });
}
