/**
 * Errors of a server that cannot serve any request. All other errors concern only the keys of one
 * call.
 */
const SERVES_NOBODY =
  /^(?:LOADING|READONLY|OOM|BUSY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|MOVED|ASK|NOAUTH|NOPERM|WRONGPASS|MISCONF|NOREPLICAS|UNKILLABLE)\b/;

/**
 * Whether a failed call shows that Redis is unavailable: no response, no connection, or an error
 * for all clients.
 */
export function isRedisAway(error: unknown): boolean {
  // The client's class for error replies of the server.
  const isResponse = error instanceof Error && error.name === 'ReplyError';
  return !isResponse || SERVES_NOBODY.test(error.message);
}
