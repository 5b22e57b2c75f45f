import type { Socket } from 'node:net';

/**
 * Time for a response to start after the client has closed its sending side. Only sending shows whether it still reads.
 */
const RESPONSE_AFTER_END_MS = 1000;

/** Closes a half-closed connection once no more data is sent to it. */
export function cutWhenSilent(socket: Socket): void {
  if (socket.destroyed) return;
  let sentBytes = socket.bytesWritten;
  const timer = setInterval(() => {
    // If the client has disconnected, sending the pending data fails.
    if (socket.bytesWritten === sentBytes && socket.writableLength === 0) socket.destroy();
    sentBytes = socket.bytesWritten;
  }, RESPONSE_AFTER_END_MS);
  timer.unref();
  socket.once('close', () => clearInterval(timer));
}
