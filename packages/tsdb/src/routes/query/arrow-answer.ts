import { setImmediate } from 'node:timers/promises';
import { type HttpAnswer, piecesAnswer } from '@plinth/kernel';
import type { ResultStream } from '../../model/columns/result.js';
import { arrowFieldOf } from '../arrow/arrow-field.js';
import { BatchEncoder } from '../arrow/batch-encoder.js';
import { encapsulated, schemaMessage } from '../arrow/schema-message.js';
import { ARROW_TYPE } from '../formats/index.js';

/** A continuation mark and no length. Source: Arrow columnar format, "IPC Streaming Format". */
const END_OF_STREAM = Buffer.from([0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]);

/** The result as an Arrow IPC stream, whose batches are those of Flight. */
export const arrowAnswer = (result: ResultStream): Promise<HttpAnswer> =>
  piecesAnswer(200, [['content-type', ARROW_TYPE]], encode(result));

/** The first piece has the first rows, if there are any: what fails until then has a status. */
async function* encode(result: ResultStream): AsyncGenerator<Buffer, void, undefined> {
  const fields = result.columns.map(arrowFieldOf);
  const encoder = new BatchEncoder(fields.map(({ type }) => type));
  let held: Uint8Array[] = [encapsulated(schemaMessage(fields))];
  const take = (): Buffer => {
    const piece = Buffer.concat(held);
    held = [];
    return piece;
  };
  const put = ({ header, body, release }: ReturnType<BatchEncoder['take']>): Buffer => {
    held.push(encapsulated(header), body);
    const piece = take(); // a copy, so that the body can be used again
    release?.();
    return piece;
  };
  let isFirst = true;
  for await (const chunk of result.chunks) {
    try {
      for (const message of encoder.add(chunk)) {
        yield put(message);
        // Others get their turn between two batches.
        await setImmediate();
      }
    } finally {
      chunk.release?.();
    }
    if (isFirst && encoder.pendingRowCount > 0) {
      isFirst = false;
      yield put(encoder.take());
    }
  }
  if (encoder.pendingRowCount > 0) yield put(encoder.take());
  held.push(END_OF_STREAM);
  yield take();
}
