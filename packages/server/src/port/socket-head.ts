import type { Socket } from 'node:net';

/** What was decided by the first bytes of a connection. */
export interface HeadDecision<T> {
  readonly value: T;
  /** Bytes of the head that are used up; the others are put back. */
  readonly usedBytes: number;
}

/**
 * Reads the first bytes of a connection until `decide` has enough of them; it answers `wait` until then and `refuse` to
 * end the connection. Calls `proceed` once, or never when the connection ends before; how long that may take is the
 * caller's business.
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
    // Bytes put back at once would come again without end: they are held until there are enough.
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
