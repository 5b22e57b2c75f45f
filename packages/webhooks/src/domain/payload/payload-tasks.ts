import { createHash } from 'node:crypto';
import { makeSignedBody, type SignedBody, type SigningJob } from '../delivery-request.js';
import { type ParsedEvent, type ParsedItem, readEventBatch, readEventBody } from './event-body.js';

/** Tasks whose duration grows with the payload. Large payloads are processed in a worker thread. */
export interface PayloadTasks {
  read: { readonly input: Uint8Array; readonly output: ParsedEvent };
  read_batch: {
    readonly input: { readonly body: Uint8Array; readonly maxCount: number };
    readonly output: readonly ParsedItem[] | 'many';
  };
  sign: { readonly input: SigningJob; readonly output: SignedBody };
  digest: { readonly input: Uint8Array; readonly output: string };
}

export type TaskName = keyof PayloadTasks;

type Runners = {
  readonly [Name in TaskName]: (input: PayloadTasks[Name]['input']) => PayloadTasks[Name]['output'];
};

export const PAYLOAD_TASKS: Runners = {
  read: readEventBody,
  read_batch: ({ body, maxCount }) => readEventBatch(body, maxCount),
  sign: makeSignedBody,
  digest: (bytes) => createHash('sha256').update(bytes).digest('hex'),
};
