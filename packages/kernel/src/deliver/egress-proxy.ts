import { once } from 'node:events';
import { isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { openTcp } from './open-tcp.js';
import { TransportFailed } from './outcome.js';

const MAX_RESPONSE_SIZE_BYTES = 16_384;

interface ProxyTarget {
  /** Already looked up and allowed; the proxy does not resolve names. */
  readonly address: string;
  readonly port: number;
  readonly signal: AbortSignal;
}

/** Opens connections through a proxy: `http` or `https` (both by CONNECT), or `socks5`. */
export class EgressProxy {
  readonly #url: URL;
  readonly #direct: readonly string[];

  /** @param direct host names that bypass the proxy; `.example.com` matches all subdomains. */
  constructor(url: URL, direct: readonly string[]) {
    this.#url = url;
    this.#direct = direct.map((name) => name.toLowerCase());
  }

  isUsedFor(host: string): boolean {
    return !this.#direct.some(
      (name) => name === host || (name.startsWith('.') && host.endsWith(name)),
    );
  }

  /** Throws `TransportFailed`, or the system error of the connection to the proxy. */
  async open(target: ProxyTarget): Promise<Socket> {
    const { protocol, hostname, port } = this.#url;
    const host = hostname.replace(/^\[|\]$/g, '');
    const fallback = { 'http:': 80, 'https:': 443, 'socks5:': 1080 }[protocol] ?? 80;
    const plain = await openTcp(host, port === '' ? fallback : Number(port), target.signal);
    try {
      const socket = protocol === 'https:' ? await this.#secure(plain, host, target) : plain;
      if (protocol === 'socks5:') await this.#connectSocks(socket, target);
      else await this.#connectHttp(socket, target);
      return socket;
    } catch (error) {
      plain.destroy();
      throw error;
    }
  }

  async #secure(socket: Socket, host: string, { signal }: ProxyTarget): Promise<Socket> {
    const tls = connectTls({ socket, host, ...(isIP(host) === 0 && { servername: host }) });
    await once(tls, 'secureConnect', { signal });
    return tls;
  }

  /** Source: RFC 9110, section 9.3.6. */
  async #connectHttp(socket: Socket, { address, port, signal }: ProxyTarget): Promise<void> {
    const authority = `${isIP(address) === 6 ? `[${address}]` : address}:${port}`;
    const { username, password } = this.#url;
    const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
    const login =
      username === ''
        ? ''
        : `Proxy-Authorization: Basic ${Buffer.from(credentials).toString('base64')}\r\n`;
    socket.write(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n${login}\r\n`);
    const head = await readUntil(socket, signal, (bytes) => {
      const end = bytes.indexOf('\r\n\r\n');
      return end === -1 ? undefined : end + 4;
    });
    const status = /^HTTP\/1\.[01] (\d{3})/.exec(head.toString('latin1'))?.[1];
    if (status?.startsWith('2') !== true)
      throw refused(`proxy returned ${status ?? 'a response that is not HTTP'}`);
  }

  /** Source: RFC 1928 and RFC 1929. */
  async #connectSocks(socket: Socket, { address, port, signal }: ProxyTarget): Promise<void> {
    const { username, password } = this.#url;
    const hasLogin = username !== '';
    socket.write(Buffer.from(hasLogin ? [5, 1, 2] : [5, 1, 0]));
    const [, method] = await readUntil(socket, signal, atLeast(2));
    if (method === 2 && hasLogin) {
      const [user, secret] = [username, password].map((text) =>
        Buffer.from(decodeURIComponent(text)),
      );
      if (user === undefined || secret === undefined)
        throw refused('proxy username or password is missing');
      socket.write(
        Buffer.concat([Buffer.of(1, user.length), user, Buffer.of(secret.length), secret]),
      );
      const [, status] = await readUntil(socket, signal, atLeast(2));
      if (status !== 0) throw refused('proxy rejected the credentials');
    } else if (method !== 0) throw refused('proxy requires an unsupported authentication method');
    const isV6 = isIP(address) === 6;
    const bytes = isV6 ? v6Bytes(address) : Buffer.from(address.split('.').map(Number));
    const head = Buffer.of(5, 1, 0, isV6 ? 4 : 1);
    socket.write(Buffer.concat([head, bytes, Buffer.of(port >> 8, port & 0xff)]));
    const response = await readUntil(socket, signal, (received) => {
      if (received.length < 5) return undefined;
      const size = { 1: 10, 4: 22 }[received[3] ?? 0] ?? 7 + (received[4] ?? 0);
      return received.length >= size ? size : undefined;
    });
    if (response[1] !== 0) throw refused(`proxy could not connect (SOCKS reply ${response[1]})`);
  }
}

const refused = (why: string): TransportFailed =>
  new TransportFailed('host_unreachable', new Error(why));

const atLeast = (size: number) => (bytes: Buffer) => (bytes.length >= size ? size : undefined);

/** Reads until `sizeOf` returns the size of the response. Bytes after it are put back. */
async function readUntil(
  socket: Socket,
  signal: AbortSignal,
  sizeOf: (received: Buffer) => number | undefined,
): Promise<Buffer> {
  let received = Buffer.alloc(0);
  for (;;) {
    const chunk: Buffer | null = socket.read();
    if (chunk !== null) {
      received = Buffer.concat([received, chunk]);
      const size = sizeOf(received);
      if (size !== undefined) {
        if (received.length > size) socket.unshift(received.subarray(size));
        return received.subarray(0, size);
      }
      if (received.length > MAX_RESPONSE_SIZE_BYTES)
        throw refused(`proxy response is longer than ${MAX_RESPONSE_SIZE_BYTES} bytes`);
      continue;
    }
    if (socket.readableEnded || socket.destroyed) throw refused('proxy closed the connection');
    await Promise.race([once(socket, 'readable', { signal }), once(socket, 'end', { signal })]);
  }
}

function v6Bytes(address: string): Buffer {
  const [head = '', tail] = address.replace(/%.*$/, '').split('::');
  const groupsOf = (text: string): number[] =>
    text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16));
  const left = groupsOf(head);
  const right = tail === undefined ? [] : groupsOf(tail);
  const zeros = new Array<number>(8 - left.length - right.length).fill(0);
  const bytes = Buffer.alloc(16);
  for (const [index, group] of [...left, ...zeros, ...right].entries()) {
    bytes.writeUInt16BE(group, index * 2);
  }
  return bytes;
}
