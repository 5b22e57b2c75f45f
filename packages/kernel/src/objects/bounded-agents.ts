import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';

/**
 * Sent bytes that the operating systems of both ends may hold. While they drain over a slow link, the socket shows no
 * progress.
 */
const BUFFERED_BYTES = 1024 * 1024;
/** Timeouts in a row for a request that has sent more. */
const LARGE_REQUEST_TIMEOUTS = 3;

interface AgentBounds {
  /** Time without progress, from the address lookup to the last byte of a response. */
  readonly timeoutMs: number;
  readonly maxSockets: number;
}

/**
 * Creates agents whose connections fail after a time without a byte in either direction. A slow transfer has no other
 * time limit.
 */
export function boundedAgents({ timeoutMs, maxSockets }: AgentBounds) {
  const options = { keepAlive: true, maxSockets, timeout: timeoutMs };
  return {
    httpAgent: withTimeout(new HttpAgent(options), timeoutMs),
    httpsAgent: withTimeout(new HttpsAgent(options), timeoutMs),
  };
}

function withTimeout<A extends HttpAgent>(agent: A, timeoutMs: number): A {
  const create = agent.createConnection.bind(agent);
  agent.createConnection = (options, callback) => {
    const socket = create(options, callback);
    if (socket instanceof Socket) {
      destroyUnconnected(socket, timeoutMs);
      destroyWithoutProgress(socket, timeoutMs);
    }
    return socket;
  };
  return agent;
}

/** Node.js counts its own part of a TLS handshake as progress. */
function destroyUnconnected(socket: Socket, timeoutMs: number): void {
  const timer = setTimeout(() => destroy(socket), timeoutMs);
  const done = (): void => clearTimeout(timer);
  socket.once(socket instanceof TLSSocket ? 'secureConnect' : 'connect', done).once('close', done);
}

function destroyWithoutProgress(socket: Socket, timeoutMs: number): void {
  let previousBytes = 0; // sent for earlier requests of this connection
  let lastProgress = -1;
  let timeoutCount = 0;
  socket.on('free', () => {
    previousBytes = socket.bytesWritten;
  });
  socket.on('timeout', () => {
    const progress = socket.bytesRead + socket.bytesWritten;
    timeoutCount = progress === lastProgress ? timeoutCount + 1 : 1;
    lastProgress = progress;
    const isLarge = socket.bytesWritten - previousBytes > BUFFERED_BYTES;
    if (isLarge && timeoutCount < LARGE_REQUEST_TIMEOUTS) socket.setTimeout(timeoutMs);
    else destroy(socket);
  });
  socket.setTimeout(timeoutMs);
}

const destroy = (socket: Socket): void => {
  socket.destroy(Object.assign(new Error('no progress'), { code: 'ETIMEDOUT' }));
};
