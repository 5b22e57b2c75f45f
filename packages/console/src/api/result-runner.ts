import type { Frame, FrameColumn } from '../lib/frame/frame.js';
import type { WorkerReply, WorkerRequest } from '../lib/frame/messages.js';
import workerUrl from '../worker/result.worker.js?worker&url';
import { authorization, urlOf } from './client.js';
import { connection } from './connection.js';
import { messageOf, Problem } from './problem.js';
import { session } from './session.js';
import { type QueryText, queryBody, queryCurl, queryPath } from './tsdb.js';

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

/** Somebody has ended it. */
export class Cancelled extends Error {
  override readonly name = 'Cancelled';
}

/** Runs queries in a worker, which reads and sorts the answer there: a million rows never stop the page. */
class ResultRunner {
  #worker: Worker | undefined;
  #lastId = 0;
  readonly #listeners = new Map<number, (reply: WorkerReply) => void>();

  /** Throws `Problem` and `Cancelled`. */
  run(
    query: QueryText,
    { signal, onProgress }: { readonly signal: AbortSignal; onProgress(progress: Progress): void },
  ): Promise<Result> {
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      const cancel = () => {
        this.#post({ kind: 'cancel', id });
        this.#listeners.delete(id);
        reject(new Cancelled('cancelled'));
      };
      const end = () => {
        signal.removeEventListener('abort', cancel);
        this.#listeners.delete(id);
      };
      signal.addEventListener('abort', cancel, { once: true });
      this.#listeners.set(id, (reply) => {
        if (reply.kind === 'progress') {
          onProgress(reply);
          return;
        }
        end();
        if (reply.kind === 'done') connection.noteAnswer();
        if (reply.kind === 'done') resolve(reply);
        else if (reply.kind === 'failed') reject(problemOf(reply, query));
      });
      this.#post({
        kind: 'run',
        id,
        url: new URL(urlOf(queryPath(query.lang)), location.origin).href,
        headers: { ...authorization(), 'content-type': 'application/json' },
        body: queryBody(query, 'arrow'),
      });
    });
  }

  /** The rows in the order of a column; of a million it takes a second, in which the page goes on. */
  sort(column: FrameColumn, rowCount: number, isDescending: boolean): Promise<Uint32Array> {
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      this.#listeners.set(id, (reply) => {
        this.#listeners.delete(id);
        if (reply.kind === 'sorted') resolve(reply.order);
        else if (reply.kind === 'failed') reject(new Error(reply.message));
      });
      this.#post({ kind: 'sort', id, column, rowCount, isDescending });
    });
  }

  #post(request: WorkerRequest): void {
    this.prepare();
    this.#worker?.postMessage(request);
  }

  /** Begins to load what reads answers. */
  prepare(): void {
    this.#worker ??= this.#open();
  }

  #open(): Worker {
    const worker = new Worker(trusted(workerUrl), { type: 'module' });
    worker.addEventListener('message', ({ data }: MessageEvent<WorkerReply>) =>
      this.#listeners.get(data.id)?.(data),
    );
    // Its file did not come, or it has failed as a whole: the next question starts another one.
    worker.addEventListener('error', () => {
      worker.terminate();
      this.#worker = undefined;
      for (const [id, listener] of [...this.#listeners]) {
        listener({ kind: 'failed', id, status: 0, message: 'the page could not start its worker' });
      }
    });
    return worker;
  }
}

export const resultRunner = new ResultRunner();

function problemOf(reply: WorkerReply & { kind: 'failed' }, query: QueryText): Problem {
  const { status, message } = reply;
  if (status === 0) connection.noteSilence();
  if (status === 401) session.refused();
  const text = status === 0 ? 'the server does not answer, or the answer broke off' : message;
  return new Problem(messageOf(text, status), { status, curl: queryCurl(query, 'json') });
}

interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { createScriptURL(url: string): string },
  ): { createScriptURL(url: string): string };
}

/** The address of the worker is the one script that this page names itself. */
function trusted(url: string): string {
  const { trustedTypes } = globalThis as { readonly trustedTypes?: TrustedTypes };
  const policy = trustedTypes?.createPolicy('plinth-worker', {
    createScriptURL: (given) => {
      if (given !== workerUrl) throw new TypeError('not the worker');
      return given;
    },
  });
  return policy?.createScriptURL(url) ?? url;
}
