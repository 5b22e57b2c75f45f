import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';

/** Bytes of an answer that wait for whoever reads it. */
const MAX_WAITING_BYTES = 256 * 1024;
/** Answers that have no body, and must be given none. */
const WITHOUT_BODY: readonly number[] = [204, 205, 304];

export interface HttpCall {
  readonly method: string;
  readonly headers: Headers;
  readonly body: Uint8Array | string | undefined;
  /** Certificates that are believed instead of those of the system. */
  readonly ca: Buffer | undefined;
  readonly signal: AbortSignal | undefined;
}

/** One request. The runtime's `fetch` does not let a caller say whose certificates it believes. */
export async function send(url: URL, call: HttpCall): Promise<Response> {
  const { request } =
    url.protocol === 'https:' ? await import('node:https') : await import('node:http');
  const { method, headers, body, ca, signal } = call;
  return await new Promise((resolve, reject) => {
    const options = {
      method,
      headers: {
        ...Object.fromEntries(headers),
        // The runtime leaves it out where the method usually has no body.
        ...(body !== undefined && { 'content-length': String(Buffer.byteLength(body)) }),
      },
      ...(ca !== undefined && { ca }),
      ...(signal !== undefined && { signal }),
    };
    const outgoing = request(url, options, (incoming) => {
      try {
        resolve(answerOf(incoming));
      } catch (error) {
        outgoing.destroy(); // A status or a header that is none.
        reject(error);
      }
    });
    outgoing.once('error', reject);
    outgoing.end(body);
  });
}

function answerOf(incoming: IncomingMessage): Response {
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

/** Whether an answer to a request without TLS says that there is TLS: in the words of this server, nginx, Go. */
export const wantsTls = (status: number, text: string): boolean =>
  status === 400 && /speaks TLS|to (?:an )?HTTPS (?:port|server)/i.test(text);

interface Reason {
  readonly why: string;
  readonly advice: string;
}

const IS_IT_RUNNING =
  'Is the server running? Start one with `plinth serve`, or name another with --host <url>.';
const BELIEVE =
  'If it is the right one, get the certificate of its issuer (its own, when it is self-signed) and name the file with\n' +
  '  --tls-ca <file> or PLINTH_TLS_CA.';

/** Why a connection did not come about, and what to do. */
export function reasonOf(error: unknown, url: URL): Reason {
  const code = String(Reflect.get(Object(error), 'code') ?? '');
  const message = error instanceof Error && error.message !== '' ? error.message : code;
  return (
    (url.protocol === 'https:' ? reasonOfTls(code, message, url) : undefined) ??
    reasonOfAll(code, message, url)
  );
}

function reasonOfAll(code: string, message: string, url: URL): Reason {
  if (code === 'ECONNREFUSED') return { why: 'nothing listens there', advice: IS_IT_RUNNING };
  if (code === 'ENOTFOUND') return { why: 'no such host name', advice: IS_IT_RUNNING };
  if (code === 'ECONNRESET' && url.protocol === 'http:') {
    return {
      why: 'the connection was ended without an answer',
      advice: `If the port speaks TLS, say --host ${url.origin.replace('http:', 'https:')}.`,
    };
  }
  return { why: message, advice: IS_IT_RUNNING };
}

function reasonOfTls(code: string, message: string, url: URL): Reason | undefined {
  switch (code) {
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
      return { why: 'its certificate is self-signed', advice: BELIEVE };
    case 'SELF_SIGNED_CERT_IN_CHAIN':
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
    case 'UNABLE_TO_GET_ISSUER_CERT':
    case 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY':
      return { why: 'nobody whom this machine trusts has issued its certificate', advice: BELIEVE };
    case 'CERT_HAS_EXPIRED':
      return {
        why: 'its certificate has expired',
        advice:
          'Renew it on the server, which reads it again on SIGHUP; is the clock of this machine right?',
      };
    case 'CERT_NOT_YET_VALID':
      return {
        why: 'its certificate is not valid yet',
        advice: 'Is the clock of this machine right, and that of the server?',
      };
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return {
        why: `its certificate is not for ${url.hostname}, ${namesIn(message)}`,
        advice:
          'Say --host with a name that it is for, or give the server a certificate for this one.',
      };
    case 'EPROTO':
    case 'ECONNRESET':
    case 'ERR_SSL_WRONG_VERSION_NUMBER':
    case 'ERR_SSL_PACKET_LENGTH_TOO_LONG':
      return {
        why: 'the port does not speak TLS',
        advice: `Say --host ${url.origin.replace('https:', 'http:')}.`,
      };
    default:
      return undefined;
  }
}

/** The names of a certificate, as the runtime tells them. */
function namesIn(message: string): string {
  const [, names = ''] =
    /altnames: (.*)$|is not in the cert's list: (.*)$|cert's CN: (.*)$/.exec(message) ?? [];
  return names === ''
    ? 'but for other names'
    : `but for ${names.replaceAll(/DNS:|IP Address:/g, '')}`;
}
