import { type HttpAnswer, piecesAnswer } from '@plinth/kernel';
import type { ResultStream } from '../../model/columns/result.js';
import { arrowFieldOf } from '../arrow/arrow-field.js';
import { type ArrowMessage, BatchEncoder } from '../arrow/batch-encoder.js';
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
  const put = ({ header, body, release }: ArrowMessage): Buffer => {
    held.push(encapsulated(header), body);
    const piece = take(); // a copy, so that the body can be used again
    release?.();
    return piece;
  };
  for await (const message of encoder.batchesOf(result.chunks)) yield put(message);
  held.push(END_OF_STREAM);
  yield take();
}
