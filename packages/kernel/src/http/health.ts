/** The API description of health checks. */
export const HEALTH_SUMMARY =
  'Returns OK when writes are accepted, storage is reachable and no shutdown is in progress';

/** Returns the text of a failed health check. */
export const notReady = (why: string): string => `not ready: ${why}`;

/**
 * Whether a client expects health checks as JSON, like those of InfluxDB 2.x. The generated clients of version 2 accept only
 * JSON, or send their own user agent and no `Accept`. All other clients expect plain text.
 */
export function readsHealthInJson(headers: {
  readonly accept?: string | undefined;
  readonly 'user-agent'?: string | undefined;
}): boolean {
  const { accept } = headers;
  if (accept !== undefined) return /^application\/json\s*(;[^,]*)?$/.test(accept);
  return headers['user-agent']?.startsWith('influxdb-client-') ?? false;
}
