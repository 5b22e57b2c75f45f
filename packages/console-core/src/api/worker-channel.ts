import type { WorkerFailure } from '../lib/worker-failure.js';
import linesUrl from '../worker/line-protocol.worker.js?worker&url';
import resultUrl from '../worker/result.worker.js?worker&url';
import { connection } from './connection.js';
import { messageOf, Problem } from './problem.js';
import { session } from './session.js';

/** The request was canceled by its caller. */
export class Cancelled extends Error {
  override readonly name = 'Cancelled';
}

const URLS = { result: resultUrl, lines: linesUrl };

/** A worker whose replies are matched to requests by id. */
export class WorkerChannel<
  Request extends { readonly id: number },
  Reply extends { readonly id: number },
> {
  readonly #name: keyof typeof URLS;
  #worker: Worker | undefined;
  #lastId = 0;
  readonly #listeners = new Map<number, (reply: Reply | WorkerFailure) => void>();

  constructor(name: keyof typeof URLS) {
    this.#name = name;
  }

  /** @param listener receives all replies until `forget` is called. */
  request(
    listener: (reply: Reply | WorkerFailure) => void,
    requestOf: (id: number) => Request,
  ): number {
    const id = ++this.#lastId;
    this.#listeners.set(id, listener);
    this.post(requestOf(id));
    return id;
  }

  forget(id: number): void {
    this.#listeners.delete(id);
  }

  post(request: Request): void {
    this.prepare();
    this.#worker?.postMessage(request);
  }

  /** Starts to load the worker. */
  prepare(): void {
    this.#worker ??= this.#open();
  }

  #open(): Worker {
    const worker = new Worker(trusted(URLS[this.#name]), { type: 'module' });
    worker.addEventListener('message', ({ data }: MessageEvent<Reply>) =>
      this.#listeners.get(data.id)?.(data),
    );
    // The script failed to load, or the worker crashed; the next request starts another one.
    worker.addEventListener('error', () => {
      worker.terminate();
      this.#worker = undefined;
      for (const [id, listener] of [...this.#listeners]) {
        listener({
          kind: 'failed',
          id,
          status: 0,
          message: 'the background worker could not be started; reload the page',
        });
      }
    });
    return worker;
  }
}

/** Returns the server's error, as reported by a worker. */
export function problemOf({ status, message }: WorkerFailure, curl: string): Problem {
  if (status === 0) connection.noteUnreachable();
  if (status === 401) session.refused();
  const text = status === 0 ? 'the server is unreachable, or the connection was lost' : message;
  return new Problem(messageOf(text, status), { status, curl });
}

interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { createScriptURL(url: string): string },
  ): { createScriptURL(url: string): string };
}

let policy: ReturnType<TrustedTypes['createPolicy']> | undefined;

/** Allows only the worker scripts of this page. The Trusted Types policy is created once. */
function trusted(url: string): string {
  const { trustedTypes } = globalThis as { readonly trustedTypes?: TrustedTypes };
  policy ??= trustedTypes?.createPolicy('plinth-worker', {
    createScriptURL: (url) => {
      if (!Object.values(URLS).includes(url))
        throw new TypeError('the URL is not a worker script of this page');
      return url;
    },
  });
  return policy?.createScriptURL(url) ?? url;
}
