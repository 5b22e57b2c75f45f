import type { Socket } from 'node:net';

/** The decision about the first bytes of a connection. */
export interface HeadDecision<T> {
  readonly value: T;
  /** Consumed bytes; the others are put back. */
  readonly usedBytes: number;
}

/**
 * Reads the first bytes of a connection until `decide` returns a decision; `wait` reads more and `refuse` closes the connection.
 * Calls `proceed` once, or never if the connection closes first. The caller sets the timeout.
 */
export function readHead<T>(
  socket: Socket,
  decide: (head: Buffer) => HeadDecision<T> | 'wait' | 'refuse',
  proceed: (value: T) => void,
): void {
  let head: Buffer | undefined;
  const onEarlyEnd = (): void => {
    socket.destroy();
  };
  const onReadable = (): void => {
    const piece: Buffer | null = socket.read();
    if (piece === null) return;
    head = head === undefined ? piece : Buffer.concat([head, piece]);
    const decision = decide(head);
    // Bytes that are put back too early would be read again immediately, so they are stored here.
    if (decision === 'wait') return;
    if (decision === 'refuse') {
      socket.destroy();
      return;
    }
    if (head.length > decision.usedBytes) socket.unshift(head.subarray(decision.usedBytes));
    socket.removeListener('error', onEarlyEnd);
    socket.removeListener('end', onEarlyEnd);
    socket.removeListener('readable', onReadable);
    proceed(decision.value);
  };
  socket.on('error', onEarlyEnd);
  socket.on('end', onEarlyEnd);
  socket.on('readable', onReadable);
}
