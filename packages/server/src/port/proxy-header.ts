import { isIP, type Socket } from 'node:net';
import { readHead } from './socket-head.js';

/** The PROXY protocol header, sent before the first byte of the client. */
export type ProxyHeader =
  | { readonly kind: 'incomplete' }
  | { readonly kind: 'malformed' }
  /** `client` is absent for the proxy's own connections (health checks) and for unknown clients. */
  | {
      readonly kind: 'complete';
      readonly sizeBytes: number;
      readonly client: ProxiedClient | undefined;
    };

export interface ProxiedClient {
  readonly address: string;
  readonly port: number;
}

const SIGNATURE = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1');
const FIXED_SIZE_BYTES = 16;
const VERSION_1_START = Buffer.from('PROXY ', 'latin1');
const MAX_VERSION_1_SIZE_BYTES = 107;
/** Addresses and extensions; more than any proxy sends. */
const MAX_VERSION_2_REST_BYTES = 4_096;

const INCOMPLETE = { kind: 'incomplete' } as const;
const MALFORMED = { kind: 'malformed' } as const;

/**
 * Reads the header of a connection and puts back the data after it. A connection without a header is closed: otherwise all clients
 * of a misconfigured proxy would share one address.
 */
export function whenProxyHeaderRead(
  socket: Socket,
  onMalformed: () => void,
  proceed: (client: ProxiedClient | undefined) => void,
): void {
  readHead<ProxiedClient | undefined>(
    socket,
    (head) => {
      const header = readProxyHeader(head);
      if (header.kind === 'incomplete') return 'wait';
      if (header.kind === 'malformed') {
        onMalformed();
        return 'refuse';
      }
      return { value: header.client, usedBytes: header.sizeBytes };
    },
    proceed,
  );
}

/** Makes the socket report the client's address. */
export function setPeerAddress(socket: Socket, { address, port }: ProxiedClient): void {
  Object.defineProperties(socket, {
    remoteAddress: { value: address },
    remotePort: { value: port },
    remoteFamily: { value: isIP(address) === 6 ? 'IPv6' : 'IPv4' },
  });
}

/** Source: The PROXY protocol, versions 1 and 2 (HAProxy), sections 2.1 and 2.2. */
function readProxyHeader(bytes: Buffer): ProxyHeader {
  if (startsLike(bytes, SIGNATURE)) return readVersion2(bytes);
  if (startsLike(bytes, VERSION_1_START)) return readVersion1(bytes);
  return MALFORMED;
}

/** Whether `bytes` match `start`, as far as received. */
function startsLike(bytes: Buffer, start: Buffer): boolean {
  const size = Math.min(bytes.length, start.length);
  return start.compare(bytes, 0, size, 0, size) === 0;
}

function readVersion1(bytes: Buffer): ProxyHeader {
  const end = bytes.subarray(0, MAX_VERSION_1_SIZE_BYTES).indexOf('\r\n');
  if (end === -1) return bytes.length >= MAX_VERSION_1_SIZE_BYTES ? MALFORMED : INCOMPLETE;
  const sizeBytes = end + 2;
  const line = bytes.toString('latin1', 0, end);
  // The rest of an UNKNOWN header is ignored.
  if (/^PROXY UNKNOWN( |$)/.test(line)) return { kind: 'complete', sizeBytes, client: undefined };
  const [, family, address = '', , port = ''] =
    /^PROXY (TCP4|TCP6) (\S+) (\S+) (\d{1,5}) \d{1,5}$/.exec(line) ?? [];
  const version = isIP(address);
  if (version === 0 || family !== `TCP${version}` || Number(port) > MAX_PORT) return MALFORMED;
  return { kind: 'complete', sizeBytes, client: { address, port: Number(port) } };
}

function readVersion2(bytes: Buffer): ProxyHeader {
  if (bytes.length < FIXED_SIZE_BYTES) return INCOMPLETE;
  const versionAndCommand = bytes[12] ?? 0;
  const familyAndProtocol = bytes[13] ?? 0;
  const restSizeBytes = bytes.readUInt16BE(14);
  const isLocal = versionAndCommand === 0x20;
  const isKnown = isLocal || versionAndCommand === 0x21;
  if (!isKnown || restSizeBytes > MAX_VERSION_2_REST_BYTES) return MALFORMED;
  const sizeBytes = FIXED_SIZE_BYTES + restSizeBytes;
  if (bytes.length < sizeBytes) return INCOMPLETE;
  const family = familyAndProtocol >> 4;
  const addressSizeBytes = ADDRESS_SIZE_BYTES[family];
  if (isLocal || addressSizeBytes === undefined) {
    return { kind: 'complete', sizeBytes, client: undefined };
  }
  if (restSizeBytes < 2 * addressSizeBytes + 4) return MALFORMED;
  const source = bytes.subarray(FIXED_SIZE_BYTES, FIXED_SIZE_BYTES + addressSizeBytes);
  const port = bytes.readUInt16BE(FIXED_SIZE_BYTES + 2 * addressSizeBytes);
  return { kind: 'complete', sizeBytes, client: { address: addressText(source), port } };
}

/** By address family: IPv4 and IPv6. Unix sockets have no address to limit. */
const ADDRESS_SIZE_BYTES: Readonly<Record<number, number>> = { 1: 4, 2: 16 };
const MAX_PORT = 65_535;

function addressText(bytes: Buffer): string {
  if (bytes.length === 4) return [...bytes].join('.');
  const groups = Array.from({ length: 8 }, (_, index) =>
    bytes.readUInt16BE(2 * index).toString(16),
  );
  return groups.join(':');
}
