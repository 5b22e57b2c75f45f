import { MessageChannel, type MessagePort } from 'node:worker_threads';

/**
 * Frees unused memory immediately instead of leaving it to the garbage collector. External memory
 * triggers collections that scan the complete heap.
 */
export class MemoryDrain {
  readonly #port = closedPort();

  /** Frees the memory. Arrays on it are empty afterwards. */
  free(...memory: ArrayBuffer[]): void {
    if (memory.length > 0) this.#port.postMessage(undefined, memory);
  }
}

/**
 * Creates a closed port. Memory transferred to it is detached from its owner and freed with the undelivered message.
 */
function closedPort(): MessagePort {
  const { port1, port2 } = new MessageChannel();
  port2.close();
  port1.close();
  return port1;
}
