import { type HttpResponse, piecesResponse } from '@plinth/kernel';
import type { ResultStream } from '@plinth/tsdb-model/columns/result.js';
import { arrowFieldOf } from '../arrow/arrow-field.js';
import { type ArrowMessage, BatchEncoder } from '../arrow/batch-encoder.js';
import { encapsulated, schemaMessage } from '../arrow/schema-message.js';
import { ARROW_TYPE } from '../formats/index.js';

/** A continuation marker and length 0. Source: Arrow columnar format, "IPC Streaming Format". */
const END_OF_STREAM = Buffer.from([0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]);

/** Responds with an Arrow IPC stream. Its batches are the same as in Flight. */
export const arrowResponse = (result: ResultStream): Promise<HttpResponse> =>
  piecesResponse(200, [['content-type', ARROW_TYPE]], encode(result));

/** Encodes a result. The first piece includes the first rows, so that earlier errors still set the status. */
async function* encode(result: ResultStream): AsyncGenerator<Buffer, void, undefined> {
  const fields = result.columns.map(arrowFieldOf);
  const encoder = new BatchEncoder(fields.map(({ type }) => type));
  let pending: Uint8Array[] = [encapsulated(schemaMessage(fields))];
  const take = (): Buffer => {
    const piece = Buffer.concat(pending);
    pending = [];
    return piece;
  };
  const put = ({ header, body, release }: ArrowMessage): Buffer => {
    pending.push(encapsulated(header), body);
    const piece = take(); // a copy, so that the body can be reused
    release?.();
    return piece;
  };
  for await (const message of encoder.batchesOf(result.chunks)) yield put(message);
  pending.push(END_OF_STREAM);
  yield take();
}
