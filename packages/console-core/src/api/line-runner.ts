import type { CsvHead, CsvMapping, LineCheck } from '@plinth/line-protocol';
import type { CsvProgress, LineReply, LineRequest } from '../lib/line-protocol/messages.js';
import type { WorkerFailure } from '../lib/worker-failure.js';
import { authorization } from './client.js';
import { connection } from './connection.js';
import { writeUrl } from './tsdb.js';
import { Cancelled, problemOf, WorkerChannel } from './worker-channel.js';

export interface CsvRun {
  readonly file: File;
  readonly mapping: CsvMapping;
  readonly signal: AbortSignal;
  onProgress(progress: CsvProgress): void;
}

type LineResponse = Exclude<LineReply, { readonly kind: 'progress' | 'unreadable' | 'failed' }>;

/** Checks lines and CSV files in a worker and sends files from there, so that 10 MB never block the page. */
class LineRunner {
  readonly #channel = new WorkerChannel<LineRequest, LineReply>('lines');

  async check(text: string): Promise<LineCheck> {
    const reply = await this.#request((id) => ({ kind: 'check', id, text }));
    if (reply.kind !== 'checked') throw new TypeError(reply.kind);
    return reply.check;
  }

  /** Throws when the file is not valid CSV. */
  async head(file: File): Promise<CsvHead> {
    const reply = await this.#request((id) => ({ kind: 'head', id, file }));
    if (reply.kind !== 'head') throw new TypeError(reply.kind);
    return reply.head;
  }

  /** Counts the rows that are valid points, without sending them. */
  preview(run: CsvRun): Promise<CsvProgress> {
    return this.#convert(run, { kind: 'preview', url: '', headers: {} });
  }

  /** Sends the valid rows of a file. Throws `Problem` or `Cancelled`; rows written before that are kept. */
  async write(run: CsvRun, db: string): Promise<CsvProgress> {
    const url = new URL(writeUrl(db, 'nanosecond'), location.origin).href;
    const headers = { ...authorization(), 'content-type': 'text/plain' };
    const progress = await this.#convert(run, { kind: 'write', url, headers });
    connection.noteReachable();
    return progress;
  }

  async #convert(
    { file, mapping, signal, onProgress }: CsvRun,
    options: Pick<LineRequest & { readonly kind: 'preview' | 'write' }, 'kind' | 'url' | 'headers'>,
  ): Promise<CsvProgress> {
    const reply = await this.#request((id) => ({ ...options, id, file, mapping }), {
      signal,
      onProgress,
    });
    if (reply.kind !== 'done') throw new TypeError(reply.kind);
    return reply.progress;
  }

  #request(
    requestOf: (id: number) => LineRequest,
    { signal, onProgress }: Partial<Pick<CsvRun, 'signal' | 'onProgress'>> = {},
  ): Promise<LineResponse> {
    return new Promise((resolve, reject) => {
      const end = () => {
        signal?.removeEventListener('abort', cancel);
        this.#channel.forget(id);
      };
      const cancel = () => {
        this.#channel.post({ kind: 'cancel', id });
        end();
        reject(new Cancelled('cancelled'));
      };
      const id = this.#channel.request((reply: LineReply | WorkerFailure) => {
        if (reply.kind === 'progress') {
          onProgress?.(reply.progress);
          return;
        }
        end();
        if (reply.kind === 'failed') reject(problemOf(reply, ''));
        else if (reply.kind === 'unreadable') reject(new Error(reply.message));
        else resolve(reply);
      }, requestOf);
      signal?.addEventListener('abort', cancel, { once: true });
    });
  }
}

export const lineRunner = new LineRunner();
