import { MessageChannel, type MessagePort } from 'node:worker_threads';

/**
 * Frees memory that nobody looks at any more at once, instead of leaving it to be collected: the runtime counts memory outside
 * of its heap as a reason to collect garbage, and then looks at all that is in the heap.
 */
export class MemoryDrain {
  readonly #port = closedPort();

  /** Arrays on the memory are empty from here on. */
  free(...memory: ArrayBuffer[]): void {
    if (memory.length > 0) this.#port.postMessage(undefined, memory);
  }
}

/** What is handed to a closed port leaves its owner as it would with any other, and goes with the message that nobody gets. */
function closedPort(): MessagePort {
  const { port1, port2 } = new MessageChannel();
  port2.close();
  port1.close();
  return port1;
}
