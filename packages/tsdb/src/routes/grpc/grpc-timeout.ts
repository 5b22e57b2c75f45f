const UNIT_MS: Readonly<Record<string, number>> = {
  H: 3_600_000,
  M: 60_000,
  S: 1000,
  m: 1,
  u: 1e-3,
  n: 1e-6,
};

/**
 * Parses a `grpc-timeout` header to milliseconds; `undefined` if it is malformed.
 * Source: gRPC over HTTP/2, "Timeout".
 */
export function parseGrpcTimeout(text: string): number | undefined {
  const match = /^(\d{1,8})([HMSmun])$/.exec(text);
  if (match === null) return undefined;
  return Math.ceil(Number(match[1]) * (UNIT_MS[match[2] ?? ''] ?? 0));
}
