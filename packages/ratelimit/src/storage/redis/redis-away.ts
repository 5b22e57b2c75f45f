/** What a server says while it can serve nobody; everything else that it says is about the keys of one call. */
const SERVES_NOBODY =
  /^(?:LOADING|READONLY|OOM|BUSY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|MOVED|ASK|NOAUTH|NOPERM|WRONGPASS|MISCONF|NOREPLICAS|UNKILLABLE)\b/;

/** Whether a failed call tells that Redis cannot be used now: it is silent, it is gone, or it refuses everybody. */
export function isRedisAway(error: unknown): boolean {
  // The client's class for what the server answered.
  const isAnswer = error instanceof Error && error.name === 'ReplyError';
  return !isAnswer || SERVES_NOBODY.test(error.message);
}
