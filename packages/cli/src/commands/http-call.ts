import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';

/** Upper bound of response bytes that are buffered before they are read. */
const MAX_WAITING_BYTES = 256 * 1024;
/** Statuses whose responses must not have a body. */
const WITHOUT_BODY: readonly number[] = [204, 205, 304];

export interface HttpCall {
  readonly method: string;
  readonly headers: Headers;
  readonly body: Uint8Array | string | undefined;
  /** Trusted certificates, in place of the system's. */
  readonly ca: Buffer | undefined;
  readonly signal: AbortSignal | undefined;
}

/** Sends one request. The runtime's `fetch` does not accept a certificate authority. */
export async function send(url: URL, call: HttpCall): Promise<Response> {
  const { request } =
    url.protocol === 'https:' ? await import('node:https') : await import('node:http');
  const { method, headers, body, ca, signal } = call;
  return await new Promise((resolve, reject) => {
    const options = {
      method,
      headers: {
        ...Object.fromEntries(headers),
        // Node omits the header for methods that usually have no body.
        ...(body !== undefined && { 'content-length': String(Buffer.byteLength(body)) }),
      },
      ...(ca !== undefined && { ca }),
      ...(signal !== undefined && { signal }),
    };
    const outgoing = request(url, options, (incoming) => {
      try {
        resolve(responseOf(incoming));
      } catch (error) {
        outgoing.destroy(); // Invalid status or header.
        reject(error);
      }
    });
    outgoing.once('error', reject);
    outgoing.end(body);
  });
}

function responseOf(incoming: IncomingMessage): Response {
  const { statusCode: status = 0, rawHeaders } = incoming;
  const headers = new Headers();
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    headers.append(rawHeaders[i] ?? '', rawHeaders[i + 1] ?? '');
  }
  if (WITHOUT_BODY.includes(status)) {
    incoming.resume();
    return new Response(null, { status, headers });
  }
  const strategy = new ByteLengthQueuingStrategy({ highWaterMark: MAX_WAITING_BYTES });
  // The two declarations of web streams (global, node:stream/web) describe the same object.
  const body = Readable.toWeb(incoming, { strategy }) as unknown as ReadableStream<Uint8Array>;
  return new Response(body, { status, headers });
}

/**
 * Returns whether a response to a plaintext request reports that the port expects TLS. Recognizes the messages of this
 * server, nginx and Go.
 */
export const wantsTls = (status: number, text: string): boolean =>
  status === 400 && /requires TLS|to (?:an )?HTTPS (?:port|server)/i.test(text);

interface Reason {
  readonly why: string;
  readonly advice: string;
}

const IS_IT_RUNNING =
  'Is the server running? Start it with `plinth serve`, or use --host <url> to connect to another server.';
const BELIEVE =
  'If you trust this server, save the certificate of its issuer (or its own certificate, if it is self-signed) to a file and use\n' +
  '  --tls-ca <file> or PLINTH_TLS_CA.';

/** Explains a failed connection and suggests a fix. */
export function reasonOf(error: unknown, url: URL): Reason {
  const code = String(Reflect.get(Object(error), 'code') ?? '');
  const message = error instanceof Error && error.message !== '' ? error.message : code;
  return (
    (url.protocol === 'https:' ? reasonOfTls(code, error, url) : undefined) ??
    reasonOfAll(code, message, url)
  );
}

function reasonOfAll(code: string, message: string, url: URL): Reason {
  if (code === 'ECONNREFUSED') return { why: 'connection refused', advice: IS_IT_RUNNING };
  if (code === 'ENOTFOUND') return { why: 'host name not found', advice: IS_IT_RUNNING };
  if (code === 'ECONNRESET' && url.protocol === 'http:') {
    return {
      why: 'the connection was closed without a response',
      advice: `If the port uses TLS, use --host ${url.origin.replace('http:', 'https:')}.`,
    };
  }
  return { why: message, advice: IS_IT_RUNNING };
}

function reasonOfTls(code: string, error: unknown, url: URL): Reason | undefined {
  switch (code) {
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
      return { why: 'its certificate is self-signed', advice: BELIEVE };
    case 'SELF_SIGNED_CERT_IN_CHAIN':
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
    case 'UNABLE_TO_GET_ISSUER_CERT':
    case 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY':
      return { why: 'its certificate was not issued by a trusted authority', advice: BELIEVE };
    case 'CERT_HAS_EXPIRED':
      return {
        why: 'its certificate has expired',
        advice:
          'Renew the server certificate and send SIGHUP. If the certificate is current, check the clock of this machine.',
      };
    case 'CERT_NOT_YET_VALID':
      return {
        why: 'its certificate is not valid yet',
        advice: 'Check the clocks of this machine and the server.',
      };
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return {
        why: `its certificate is not valid for ${url.hostname}, only for ${namesIn(error)}`,
        advice:
          'Use --host with one of these names, or install a server certificate that includes this host name.',
      };
    case 'EPROTO':
    case 'ECONNRESET':
    case 'ERR_SSL_WRONG_VERSION_NUMBER':
    case 'ERR_SSL_PACKET_LENGTH_TOO_LONG':
      return {
        why: 'the port does not use TLS',
        advice: `Use --host ${url.origin.replace('https:', 'http:')}.`,
      };
    default:
      return undefined;
  }
}

/** Formats the names in the certificate that the runtime's error contains. */
function namesIn(error: unknown): string {
  const certificate = Object(Reflect.get(Object(error), 'cert'));
  const common: unknown = Reflect.get(Object(Reflect.get(certificate, 'subject')), 'CN');
  const names = String(Reflect.get(certificate, 'subjectaltname') ?? common ?? '');
  return names === '' ? 'other names' : names.replaceAll(/DNS:|IP Address:/g, '');
}
