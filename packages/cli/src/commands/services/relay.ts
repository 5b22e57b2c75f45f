import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { hostname } from 'node:os';
import { messageOf } from '@plinth/kernel';
import { CommandFailed, EXIT } from '@plinth/server/process/command-failed.js';
import { bytesOf, type Connection, callOk } from '../connection.js';
import { reasonOf, send } from '../http-call.js';
import { APPS } from './named.js';

/** The response to a forwarded delivery. */
export interface TargetResponse {
  readonly status: number;
  readonly body: string | Buffer;
}

/** Longer than the server's delivery timeout. */
const TIMEOUT_MS = 60_000;
/** The server does not store more of a response body. */
const MAX_RESPONSE_BYTES = 64 * 1024;
/** Connection headers, which are not forwarded. */
const OF_CONNECTION =
  /^(?:host|connection|keep-alive|content-length|transfer-encoding|expect|te|upgrade)$/;

/** Throws `CommandFailed` for an invalid address. */
export function targetOf(text: string): URL {
  const url = /^https?:\/\//.test(text) ? text : `http://${text}`;
  if (URL.canParse(url)) return new URL(url);
  throw new CommandFailed(
    `--forward-to "${text}" is not a valid URL; use a URL such as http://localhost:3000/hook`,
    EXIT.usage,
  );
}

/** Forwards a delivery byte for byte, so that its signature stays valid. */
export async function forward(
  target: URL,
  request: IncomingMessage,
  body: Buffer,
): Promise<TargetResponse> {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    if (!OF_CONNECTION.test(name) && value !== undefined) headers.set(name, String(value));
  }
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  try {
    const method = request.method ?? 'POST';
    const response = await send(target, { method, headers, body, ca: undefined, signal });
    const pieces: Uint8Array[] = [];
    let sizeBytes = 0;
    for await (const piece of bytesOf(response)) {
      pieces.push(piece);
      sizeBytes += piece.byteLength;
      if (sizeBytes >= MAX_RESPONSE_BYTES) break;
    }
    return { status: response.status, body: Buffer.concat(pieces).subarray(0, MAX_RESPONSE_BYTES) };
  } catch (error) {
    const why = signal.aborted ? messageOf(error) : reasonOf(error, target).why;
    return { status: 502, body: `cannot reach ${target.origin}: ${why}` };
  }
}

export const newSecret = (): string => randomBytes(32).toString('base64url');

/** Registers an app for these events. @returns its id */
export async function registerApp(
  connection: Connection,
  webhook: { readonly url: string; readonly secret: string; readonly events: string },
): Promise<string> {
  const { url, secret } = webhook;
  const events = webhook.events.split(',').map((name) => name.trim());
  const name = `listen-${hostname()}-${randomBytes(4).toString('hex')}`.slice(-64);
  const json = { name, webhook: { url, secret, events } };
  const response = await callOk(connection, APPS, { json }).catch((error: unknown) => {
    if (!(error instanceof CommandFailed && error.message.includes('public Internet'))) throw error;
    throw new CommandFailed(
      `${error.message}\n  The setting webhooks.allow_private_targets must allow this target: start the server with\n` +
        `  --webhooks-allow-private-targets ${new URL(url).hostname}`,
    );
  });
  const made = Object(await response.json());
  return String(Reflect.get(made, 'id'));
}

export async function removeApp(connection: Connection, id: string): Promise<void> {
  await callOk(connection, `${APPS}/${id}`, { method: 'DELETE' });
}
