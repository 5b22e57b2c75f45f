import type { Socket } from 'node:net';

export type FirstBytes = 'tls' | 'http2' | 'http1';

/** Source: RFC 9113, section 3.4. */
const HTTP2_PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1');

/** Type of the record that every TLS connection begins with. Source: RFC 8446, section 5.1. */
const TLS_HANDSHAKE = 0x16;

/**
 * Looks at the first bytes of a connection and puts them back. Calls `tell` once, or never when the connection ends before;
 * how long that may take is the caller's business.
 */
export function whenTold(socket: Socket, tell: (first: FirstBytes) => void): void {
  let head: Buffer | undefined;
  const onEarlyEnd = (): void => {
    socket.destroy();
  };
  const onReadable = (): void => {
    const piece: Buffer | null = socket.read();
    if (piece === null) return;
    head = head === undefined ? piece : Buffer.concat([head, piece]);
    const first = firstBytesOf(head);
    // `P` alone may still become PUT or PRI: wait for more. Bytes put back at once would come again without end.
    if (first === undefined) return;
    socket.unshift(head);
    socket.removeListener('error', onEarlyEnd);
    socket.removeListener('end', onEarlyEnd);
    socket.removeListener('readable', onReadable);
    tell(first);
  };
  socket.on('error', onEarlyEnd);
  socket.on('end', onEarlyEnd);
  socket.on('readable', onReadable);
}

function firstBytesOf(head: Buffer): FirstBytes | undefined {
  if (head[0] === TLS_HANDSHAKE) return 'tls';
  const size = Math.min(head.length, HTTP2_PREFACE.length);
  if (HTTP2_PREFACE.compare(head, 0, size, 0, size) !== 0) return 'http1';
  return size < HTTP2_PREFACE.length ? undefined : 'http2';
}
