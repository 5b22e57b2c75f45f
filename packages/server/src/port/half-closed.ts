import type { Socket } from 'node:net';

/**
 * So long is worked for a client that has ended its side without sending it anything. Whether it still waits or is gone
 * shows only when something is sent.
 */
const ANSWER_AFTER_END_MS = 1000;

/** Ends a connection whose client has ended its side, once nothing goes out to it any more. */
export function cutWhenSilent(socket: Socket): void {
  if (socket.destroyed) return;
  let sentBytes = socket.bytesWritten;
  const timer = setInterval(() => {
    // What waits for the client to take it fails by itself when the client is gone.
    if (socket.bytesWritten === sentBytes && socket.writableLength === 0) socket.destroy();
    sentBytes = socket.bytesWritten;
  }, ANSWER_AFTER_END_MS);
  timer.unref();
  socket.once('close', () => clearInterval(timer));
}
