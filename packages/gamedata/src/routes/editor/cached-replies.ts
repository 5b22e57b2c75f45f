import { createHash } from 'node:crypto';
import type { Clock, HttpRequest } from '@plinth/kernel';
import type { EditRequest } from '../../domain/edit/edit-request.js';
import { gameDataError } from '../../errors.js';
import type { CachedReply } from '../../model/edition.js';

type On = Parameters<NonNullable<EditRequest['refuseRepeated']>>[0];

/** Storage of replies. */
export interface ReplyStore {
  keptReply(
    options: { readonly key: string; readonly actor: string; readonly sinceMs: number },
    on: On,
  ): Promise<CachedReply | undefined>;
  keepReply: NonNullable<KeepReply>;
}
type KeepReply = (
  tx: Parameters<NonNullable<EditRequest['storeReply']>>[0],
  reply: CachedReply & { readonly key: string; readonly actor: string; readonly nowMs: number },
) => Promise<void>;

const KEEP_MS = 24 * 3_600_000;
export const MAX_KEY_LENGTH = 255;

/** Thrown when the same request already has a reply. */
class ReplyFound extends Error {
  override readonly name = 'ReplyFound';
  readonly kind = 'reply_found';
  readonly reply: unknown;
  constructor(reply: unknown) {
    super('the request already has a reply');
    this.reply = reply;
  }
}

/**
 * Repeats the stored reply for a request with the same `Idempotency-Key`, on any node. The lookup
 * runs inside the serialized write.
 * Source: gamedata, section 6.3.
 */
export class CachedReplies {
  readonly #store: ReplyStore;
  readonly #clock: Clock;

  constructor(store: ReplyStore, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  async run(
    request: HttpRequest,
    actor: string,
    work: (attempt: EditRequest) => Promise<unknown>,
  ): Promise<unknown> {
    const key = request.headers['idempotency-key'];
    if (key === undefined) return await work({ actor });
    if (key === '' || key.length > MAX_KEY_LENGTH) {
      const message = `Idempotency-Key must have 1 to ${MAX_KEY_LENGTH} characters`;
      throw gameDataError('invalid_parameter', { param: 'Idempotency-Key', message });
    }
    try {
      return await work(this.#attempt(request, { actor, key }));
    } catch (error) {
      if (error instanceof ReplyFound) return hideRev(error.reply);
      throw error;
    }
  }

  #attempt(
    request: HttpRequest,
    { actor, key }: { readonly actor: string; readonly key: string },
  ): EditRequest {
    const nowMs = this.#clock.nowMs();
    const bodyHash = createHash('sha256')
      .update(`${request.method} ${request.url}\n`)
      .update(request.body)
      .digest('hex');
    const check = async (on: On): Promise<void> => {
      const cached = await this.#store.keptReply({ key, actor, sinceMs: nowMs - KEEP_MS }, on);
      if (cached === undefined) return;
      if (cached.bodyHash === bodyHash) throw new ReplyFound(JSON.parse(cached.reply));
      throw gameDataError('conflict', {
        message: 'the Idempotency-Key was used for another request; use a new key',
      });
    };
    return {
      actor,
      refuseRepeated: check,
      storeReply: async (tx, reply) => {
        await check(tx);
        const cached = { bodyHash, status: 200, reply: JSON.stringify(reply) };
        await this.#store.keepReply(tx, { key, actor, nowMs, ...cached });
      },
    };
  }
}

/** Hides the record's revision in a stored reply, where it is needed only for the `ETag` header. */
function hideRev(reply: unknown): unknown {
  const rev: unknown = Reflect.get(Object(reply), 'rev');
  if (rev === undefined) return reply;
  return Object.defineProperty(Object(reply), 'rev', { value: rev, enumerable: false });
}
