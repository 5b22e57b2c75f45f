/** The server sends a heartbeat every 15 seconds. */
export const STREAM_TIMEOUT_MS = 40_000;
/** A longer event does not come from this server. */
export const MAX_EVENT_LENGTH = 4_194_304;
/** A stream that stayed open this long resets the retry delay. */
export const STEADY_MS = 10_000;

const FIRST_RETRY_MS = 1000;
const MAX_RETRY_MS = 15_000;

/** Returns the delay before a stream is reopened. @param failureCount starts at 1. */
export const retryDelayMs = (failureCount: number): number =>
  Math.min(FIRST_RETRY_MS * 2 ** (failureCount - 1), MAX_RETRY_MS);
