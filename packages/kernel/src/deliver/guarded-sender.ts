import type { Clock } from '../clock/clock.js';
import type { FileSystem } from '../fs/file-system.js';
import { EgressProxy } from './egress-proxy.js';
import type { OutgoingRequest } from './exchange.js';
import { createHostLookup } from './host-lookup.js';
import type { Outcome } from './outcome.js';
import { Sender, type SendOptions } from './sender.js';
import { type OwnListener, TargetGuard } from './target-guard.js';

/** Where requests may go and by which way; each user has settings of its own. */
export interface EgressSettings {
  /** Ranges, addresses and host names that may be reached although they are private; `*`: all of them. */
  readonly allowedTargets: readonly string[];
  /** Empty: all. */
  readonly allowedPorts: readonly number[];
  /** PEM with certificate authorities beside those of the system. */
  readonly extraCaFile: string | undefined;
  /** `http`, `https` or `socks5`. */
  readonly proxy: string | undefined;
  /** Host names that are reached without the proxy. */
  readonly directHosts: readonly string[];
  readonly timeoutMs: number;
  /** So much of an answer's body is kept; with more the connection is not used again. */
  readonly maxResponseBytes: number;
}

const OCTET = '(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])';
const V4 = `(?:${OCTET}\\.){3}${OCTET}(?:/(?:3[0-2]|[12]?[0-9]))?`;
const V6 = '[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*(?:/(?:12[0-8]|1[01][0-9]|[1-9]?[0-9]))?';
/** One of digits alone would be an address that is written otherwise. */
const HOST = '(?=.*[A-Za-z])[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_])?\\.?';

/** How settings name targets that are allowed (`*` for all), ports and proxies. */
export const EGRESS_PATTERNS = {
  target: `^(?:\\*|${V4}|${V6}|${HOST})$`,
  port: '^[1-9][0-9]{0,4}$',
  proxy: '^(https?|socks5)://[^\\s]+$',
} as const;

export interface EgressDeps {
  readonly clock: Clock;
  readonly files: FileSystem;
  /** Where this server listens. */
  readonly ownListeners: readonly OwnListener[];
}

/**
 * Sends what somebody else named the target of: no request leaves but through the guard, which judges the URL when it is
 * given and every address at every connect.
 */
export class GuardedSender {
  /** For those who take URLs in, to refuse at once what no request would reach. */
  readonly guard: TargetGuard;
  readonly #settings: EgressSettings;
  readonly #files: FileSystem;
  readonly #sender: Sender;
  /** Filled at the start, before anything is sent. */
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

  /** Rejects with what the system says about the file of authorities. */
  async start(): Promise<void> {
    const { extraCaFile } = this.#settings;
    if (extraCaFile !== undefined) {
      this.#authorities.push(await readText(this.#files, extraCaFile));
    }
  }

  /** Never throws. */
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
