import type { Clock } from '../clock/clock.js';
import type { FileSystem } from '../fs/file-system.js';
import { EgressProxy } from './egress-proxy.js';
import { createHostLookup } from './host-lookup.js';
import type { Outcome } from './outcome.js';
import type { OutgoingRequest } from './send-request.js';
import { Sender, type SendOptions } from './sender.js';
import { type OwnListener, TargetGuard } from './target-guard.js';

/** Which targets requests may reach, and how. Each user of a sender has its own settings. */
export interface EgressSettings {
  /** Private ranges, addresses and host names that are allowed; `*` allows all. */
  readonly allowedTargets: readonly string[];
  /** Empty allows all ports. */
  readonly allowedPorts: readonly number[];
  /** A PEM file of certificate authorities, in addition to the system's authorities. */
  readonly extraCaFile: string | undefined;
  /** `http`, `https` or `socks5`. */
  readonly proxy: string | undefined;
  /** Host names that bypass the proxy. */
  readonly directHosts: readonly string[];
  readonly timeoutMs: number;
  /** The number of response body bytes that are kept. After a longer body, the connection is not reused. */
  readonly maxResponseBytes: number;
}

const OCTET = '(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])';
const V4 = `(?:${OCTET}\\.){3}${OCTET}(?:/(?:3[0-2]|[12]?[0-9]))?`;
const V6 = '[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*(?:/(?:12[0-8]|1[01][0-9]|[1-9]?[0-9]))?';
/** At least one letter is required, as a name of digits could be an address in another notation. */
const HOST = '(?=.*[A-Za-z])[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_])?\\.?';

/** Patterns of the settings for allowed targets (`*` for all), ports and proxies. */
export const EGRESS_PATTERNS = {
  target: `^(?:\\*|${V4}|${V6}|${HOST})$`,
  port: '^[1-9][0-9]{0,4}$',
  proxy: '^(https?|socks5)://[^\\s]+$',
} as const;

export interface EgressDeps {
  readonly clock: Clock;
  readonly files: FileSystem;
  /** The addresses on which this server listens. */
  readonly ownListeners: readonly OwnListener[];
}

/**
 * Sends requests to URLs that clients chose. The guard checks the URL when it is registered, and every address at every
 * connection.
 */
export class EgressSender {
  /** Lets callers reject an unreachable URL on registration. */
  readonly guard: TargetGuard;
  readonly #settings: EgressSettings;
  readonly #files: FileSystem;
  readonly #sender: Sender;
  /** Loaded by `start`, before the first request. */
  readonly #authorities: string[] = [];

  constructor(settings: EgressSettings, { clock, files, ownListeners }: EgressDeps) {
    this.#settings = settings;
    this.#files = files;
    this.guard = new TargetGuard({
      allowed: settings.allowedTargets,
      allowedPorts: settings.allowedPorts,
    });
    this.guard.blockListeners(ownListeners);
    const { proxy, directHosts, timeoutMs, maxResponseBytes } = settings;
    const connect = {
      guard: this.guard,
      lookup: createHostLookup(),
      authorities: this.#authorities,
      proxy: proxy === undefined ? undefined : new EgressProxy(new URL(proxy), directHosts),
    };
    this.#sender = new Sender({ ...connect, timeoutMs, maxResponseBytes }, clock);
  }

  /** Rejects with the system error when the file of authorities cannot be read. */
  async start(): Promise<void> {
    const { extraCaFile } = this.#settings;
    if (extraCaFile !== undefined) {
      this.#authorities.push(await readText(this.#files, extraCaFile));
    }
  }

  /** Never rejects. */
  async send(request: OutgoingRequest, options?: SendOptions): Promise<Outcome> {
    return await this.#sender.send(request, options);
  }

  close(): void {
    this.#sender.close();
  }
}

async function readText(files: FileSystem, path: string): Promise<string> {
  const file = await files.open(path, 'r');
  try {
    const bytes = new Uint8Array(await file.sizeBytes());
    const readBytes = await file.read(bytes, 0);
    return Buffer.from(bytes.subarray(0, readBytes)).toString();
  } finally {
    await file.close();
  }
}
