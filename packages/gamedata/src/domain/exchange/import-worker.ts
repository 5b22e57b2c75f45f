import { parentPort, workerData } from 'node:worker_threads';
import { invariant } from '@plinth/kernel';
import { ValidationFailed } from '../../errors.js';
import { type ImportSource, readImport } from './import-batches.js';
import { BATCH_SIZE, type FromImportThread, MAX_BATCHES_AHEAD } from './import-thread.js';
import { PiecesBroken } from './json-pieces.js';

invariant(parentPort !== null, 'this module runs as a thread');
const port = parentPort;
const tell = (message: FromImportThread, handedOver: readonly ArrayBuffer[] = []): void =>
  port.postMessage(message, [...handedOver]);

let room = MAX_BATCHES_AHEAD;
let wake = (): void => {};
port.on('message', () => {
  room += 1;
  wake();
});

try {
  const { head, batches } = readImport(workerData as ImportSource, BATCH_SIZE); // as `ImportThread` gives it
  tell({ head });
  for (const batch of batches) {
    while (room === 0) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    room -= 1;
    const sent = { ...batch, records: JSON.stringify(batch.records) };
    tell({ batch: sent }, [batch.texts.buffer as ArrayBuffer]); // made by `allocUnsafeSlow`
  }
  tell({ isDone: true });
} catch (error) {
  if (error instanceof ValidationFailed) {
    tell({ refused: { message: error.message, details: error.details } });
  } else if (error instanceof PiecesBroken || error instanceof SyntaxError) {
    tell({ unreadable: error.message });
  } else throw error;
}
port.close();
