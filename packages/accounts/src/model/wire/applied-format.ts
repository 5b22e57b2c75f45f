/**
 * Format of `configuration.<name>.applied` in responses; `auto` sends a timestamp to clients that
 * can read one.
 */
export type AppliedFormat = 'auto' | 'timestamp' | 'boolean';

/** Official clients that declare a boolean and cannot parse a response with another type. */
const STRICT_CLIENT = /^Stripe\/v\d+ (?:Go|Java|\.Net)Bindings\//i;

/** @param userAgent header of the request. */
export function readsBooleansOnly(userAgent: string | undefined): boolean {
  return userAgent !== undefined && STRICT_CLIENT.test(userAgent);
}
