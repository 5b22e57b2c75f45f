import { type RequestError, requestError, WorkerClient } from '@plinth/kernel';
import type { Fields, ParsedItem, ParsedPayload } from './event-body.js';
import type { TaskName } from './payload-tasks.js';

export interface TaskRequest {
  readonly name: TaskName;
  readonly input: unknown;
}

/** The form in which a batch is posted between threads. */
export interface PackedBatch {
  /** The concatenated payloads. */
  readonly all: Uint8Array<ArrayBuffer>;
  readonly parts: readonly PackedItem[];
}

export type PackedItem =
  | { readonly item: ParsedItem }
  | {
      readonly fields: Fields;
      readonly unknown: string | undefined;
      readonly about: Omit<ParsedPayload, 'bytes'>;
      /** End offset of the payload, which starts where the previous one ends. */
      readonly end: number;
    };

export type TaskReply =
  | { readonly output: unknown }
  | { readonly unreadable: RequestError<'json_unreadable'>['details'] }
  | { readonly failure: string };

/** A worker thread that runs one payload task at a time. */
export class PayloadThread {
  readonly #client = new WorkerClient<TaskRequest, TaskReply>(
    new URL('./payload-worker.js', import.meta.url),
    { name: 'webhook-payloads' },
  );

  /** @param transfer buffers in `input`; the caller must not use them afterwards. */
  async run(name: TaskName, input: unknown, transfer: readonly ArrayBuffer[]): Promise<unknown> {
    const reply = await this.#client.request({ name, input }, transfer);
    if ('output' in reply) return unpacked(reply.output);
    if ('unreadable' in reply) throw requestError('json_unreadable', reply.unreadable);
    throw new Error(reply.failure);
  }

  async close(): Promise<void> {
    await this.#client.stop(new Error('the payload thread was stopped'));
  }
}

function unpacked(output: unknown): unknown {
  if (typeof output !== 'object' || output === null || !('parts' in output)) return output;
  const { all, parts } = output as PackedBatch; // only the batch task returns `parts`
  let start = 0;
  return parts.map((part): ParsedItem => {
    if ('item' in part) return part.item;
    const bytes = all.subarray(start, part.end);
    start = part.end;
    return { fields: part.fields, unknown: part.unknown, payload: { bytes, ...part.about } };
  });
}
