/** How `configuration.<name>.applied` is answered; `auto` is a timestamp where the caller can read one. */
export type AppliedFormat = 'auto' | 'timestamp' | 'boolean';

/** Official clients that declare a boolean, and read nothing of an answer in which something else stands. */
const STRICT_CLIENT = /^Stripe\/v\d+ (?:Go|Java|\.Net)Bindings\//i;

/** @param userAgent header of the request. */
export function readsBooleansOnly(userAgent: string | undefined): boolean {
  return userAgent !== undefined && STRICT_CLIENT.test(userAgent);
}
