import { MessageChannel, type MessagePort } from 'node:worker_threads';

/**
 * Gives memory of the engine's chunks back at once. The binding copies each column of a chunk into memory of its own, and the
 * runtime looks at its whole heap after every 8 MB of these: several times in an answer of a million rows.
 */
export class ReturnedMemory {
  /** What is transferred to a closed port has no owner any more: it is freed before the call returns. */
  readonly #nowhere: MessagePort;

  constructor() {
    const { port1 } = new MessageChannel();
    port1.close();
    this.#nowhere = port1;
  }

  /** Views of these buffers are empty from here on. */
  take(buffers: readonly ArrayBuffer[]): void {
    if (buffers.length > 0) this.#nowhere.postMessage(undefined, buffers);
  }
}
