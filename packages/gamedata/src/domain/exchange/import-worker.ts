import { parentPort, workerData } from 'node:worker_threads';
import { invariant } from '@plinth/kernel';
import { gameDataError } from '../../errors.js';
import { type ImportSource, readImport } from './import-batches.js';
import {
  BATCH_SIZE,
  type FromImportThread,
  MAX_BATCHES_AHEAD,
  type ToImportThread,
} from './import-thread.js';
import { PiecesBroken } from './json-pieces.js';

invariant(parentPort !== null, 'this module must run in a worker thread');
const port = parentPort;
const report = (message: FromImportThread, handedOver: readonly ArrayBuffer[] = []): void =>
  port.postMessage(message, [...handedOver]);

let room = MAX_BATCHES_AHEAD;
let wake = (): void => {};
/** Buffers of processed batches, reused because allocating each batch would fragment the heap. */
const spare: Uint8Array[] = [];
port.on('message', (returned: ToImportThread) => {
  room += 1;
  spare.push(returned);
  wake();
});

try {
  const source = workerData as ImportSource; // set by `ImportThread`
  const { head, batches } = readImport(source, BATCH_SIZE, () => spare.pop());
  report({ head });
  for (const batch of batches) {
    while (room === 0) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    room -= 1;
    const sent = { ...batch, records: JSON.stringify(batch.records) };
    report({ batch: sent }, [batch.texts.buffer as ArrayBuffer]); // allocated with `allocUnsafeSlow`
  }
  report({ isDone: true });
} catch (error) {
  if (gameDataError.is(error, 'validation_failed')) {
    report({ refused: error.details });
  } else if (gameDataError.is(error, 'too_large')) {
    report({ tooLarge: error.details });
  } else if (error instanceof PiecesBroken || error instanceof SyntaxError) {
    report({ unreadable: error.message });
  } else throw error;
}
port.close();
