import type { Frame, FrameColumn } from '../lib/frame/frame.js';
import type { WorkerReply, WorkerRequest } from '../lib/frame/messages.js';
import { authorization, urlOf } from './client.js';
import { connection } from './connection.js';
import { type QueryText, queryBody, queryCurl, queryPath } from './tsdb.js';
import { Cancelled, problemOf, WorkerChannel } from './worker-channel.js';

export interface Result {
  readonly frame: Frame;
  readonly sizeBytes: number;
  readonly firstMs: number;
  readonly totalMs: number;
}

export interface Progress {
  readonly rowCount: number;
  readonly sizeBytes: number;
}

/** Runs queries in a worker that also reads and sorts the results, so that a million rows never block the page. */
class ResultRunner {
  readonly #channel = new WorkerChannel<WorkerRequest, WorkerReply>('result');

  /** Throws `Problem` and `Cancelled`. */
  run(
    query: QueryText,
    { signal, onProgress }: { readonly signal: AbortSignal; onProgress(progress: Progress): void },
  ): Promise<Result> {
    return new Promise((resolve, reject) => {
      const end = () => {
        signal.removeEventListener('abort', cancel);
        this.#channel.forget(id);
      };
      const cancel = () => {
        this.#channel.post({ kind: 'cancel', id });
        end();
        reject(new Cancelled('cancelled'));
      };
      const id = this.#channel.request(
        (reply) => {
          if (reply.kind === 'progress') {
            onProgress(reply);
            return;
          }
          end();
          if (reply.kind === 'done') connection.noteReachable();
          if (reply.kind === 'done') resolve(reply);
          else if (reply.kind === 'failed') reject(problemOf(reply, queryCurl(query, 'json')));
        },
        (id) => ({
          kind: 'run',
          id,
          url: new URL(urlOf(queryPath(query.lang)), location.origin).href,
          headers: { ...authorization(), 'content-type': 'application/json' },
          body: queryBody(query, 'arrow'),
        }),
      );
      signal.addEventListener('abort', cancel, { once: true });
    });
  }

  /**
   * Returns the row order for a sorted column. Sorting a million rows takes about a second and does not block the page.
   */
  sort(column: FrameColumn, rowCount: number, isDescending: boolean): Promise<Uint32Array> {
    return new Promise((resolve, reject) => {
      const id = this.#channel.request(
        (reply) => {
          this.#channel.forget(id);
          if (reply.kind === 'sorted') resolve(reply.order);
          else if (reply.kind === 'failed') reject(new Error(reply.message));
        },
        (id) => ({ kind: 'sort', id, column, rowCount, isDescending }),
      );
    });
  }

  /** Preloads the worker. */
  prepare(): void {
    this.#channel.prepare();
  }
}

export const resultRunner = new ResultRunner();
