import { once } from 'node:events';
import { connect as connectTcp, type Socket } from 'node:net';

/** Opens a TCP connection. Throws the system error. */
export async function openTcp(host: string, port: number, signal: AbortSignal): Promise<Socket> {
  const socket = connectTcp({ host, port, noDelay: true, keepAlive: true });
  try {
    await once(socket, 'connect', { signal });
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}
