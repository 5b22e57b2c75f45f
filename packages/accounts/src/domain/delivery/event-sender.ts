import { lookup as resolveName } from 'node:dns';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { hostOf, portOf, type TargetGuard } from '@plinth/kernel';

export interface SentEvent {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const TIMEOUT_MS = 10_000;

/** Sends one event and says whether the receiver took it; never throws. A redirect is no success. */
export class EventSender {
  readonly #guard: TargetGuard;

  constructor(guard: TargetGuard) {
    this.#guard = guard;
  }

  async send(
    event: SentEvent,
    signal: AbortSignal,
  ): Promise<{ readonly isTaken: boolean; readonly why: string }> {
    try {
      const status = await this.#exchange(
        event,
        AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
      );
      return { isTaken: status >= 200 && status < 300, why: `status ${status}` };
    } catch (error) {
      return { isTaken: false, why: error instanceof Error ? error.message : 'failed' };
    }
  }

  async #exchange({ url, headers, body }: SentEvent, signal: AbortSignal): Promise<number> {
    const target = new URL(url);
    // A literal address is connected to without a look-up.
    if (isIP(hostOf(target)) !== 0 && !this.#guard.isUrlReachable(target)) throw notAllowed();
    const request = target.protocol === 'https:' ? httpsRequest : httpRequest;
    return await new Promise((resolve, reject) => {
      const options = {
        method: 'POST',
        headers: { ...headers, 'content-length': String(Buffer.byteLength(body)) },
        lookup: this.#lookupFor(portOf(target)),
        signal,
        agent: false,
      } as const;
      const outgoing = request(target, options, (incoming: IncomingMessage) => {
        resolve(incoming.statusCode ?? 0);
        // Nobody reads the answer's body.
        incoming.destroy();
      });
      outgoing.on('error', reject);
      outgoing.end(body);
    });
  }

  /** Names are looked up at every connect, so that none can change its mind after it was checked. */
  #lookupFor(port: number): LookupFunction {
    return (hostname, options, callback) => {
      resolveName(hostname, { ...options, all: true }, (error, addresses) => {
        if (error !== null) {
          callback(error, '', 4);
          return;
        }
        const allowed = this.#guard.filter(hostname, port, addresses);
        const [first] = allowed;
        if (first === undefined) callback(notAllowed(), '', 4);
        else if (options.all === true) callback(null, [...allowed]);
        else callback(null, first.address, first.family);
      });
    };
  }
}

const notAllowed = (): Error => new Error('address is not allowed');
