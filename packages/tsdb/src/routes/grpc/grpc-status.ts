/** Source: gRPC, "Status codes". */
export const GRPC = {
  OK: 0,
  CANCELLED: 1,
  UNKNOWN: 2,
  INVALID_ARGUMENT: 3,
  DEADLINE_EXCEEDED: 4,
  NOT_FOUND: 5,
  ALREADY_EXISTS: 6,
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  FAILED_PRECONDITION: 9,
  UNIMPLEMENTED: 12,
  INTERNAL: 13,
  UNAVAILABLE: 14,
  UNAUTHENTICATED: 16,
} as const;

export type GrpcCode = (typeof GRPC)[keyof typeof GRPC];

/** Ends a call with a status. The message is returned to the client unchanged. */
export class GrpcFailure extends Error {
  override readonly name = 'GrpcFailure';
  readonly kind = 'grpc_failure';
  readonly code: GrpcCode;
  constructor(code: GrpcCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** Trailers must fit in addition to the other headers. Source: tsdb-http, §20.2. */
const MAX_MESSAGE_LENGTH = 2000;

/** Encodes a message for a header. Source: gRPC over HTTP/2, "Status-Message". */
export function encodeStatusMessage(message: string): string {
  const bytes = Buffer.from(message.slice(0, MAX_MESSAGE_LENGTH));
  let text = '';
  for (const byte of bytes) {
    const isPlain = byte >= 0x20 && byte <= 0x7e && byte !== 0x25;
    text += isPlain ? String.fromCharCode(byte) : `%${HEX[byte >> 4]}${HEX[byte & 15]}`;
  }
  return text;
}

const HEX = '0123456789ABCDEF';
