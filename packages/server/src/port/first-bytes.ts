import type { Socket } from 'node:net';
import { readHead } from './socket-head.js';

export type FirstBytes = 'tls' | 'http2' | 'http1';

/** Source: RFC 9113, section 3.4. */
const HTTP2_PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1');

/** Record type of a TLS handshake. Source: RFC 8446, section 5.1. */
const TLS_HANDSHAKE = 0x16;

/** Reads the first bytes of a connection and puts them back. */
export function whenDetected(socket: Socket, notify: (first: FirstBytes) => void): void {
  readHead(
    socket,
    (head) => {
      const value = firstBytesOf(head);
      return value === undefined ? 'wait' : { value, usedBytes: 0 };
    },
    notify,
  );
}

/** Detects the protocol; `undefined` while more bytes are needed: `P` can still become PUT or PRI. */
function firstBytesOf(head: Buffer): FirstBytes | undefined {
  if (head[0] === TLS_HANDSHAKE) return 'tls';
  const size = Math.min(head.length, HTTP2_PREFACE.length);
  if (HTTP2_PREFACE.compare(head, 0, size, 0, size) !== 0) return 'http1';
  return size < HTTP2_PREFACE.length ? undefined : 'http2';
}
