import { spawn } from 'node:child_process';

type Env = Readonly<Record<string, string | undefined>>;

/**
 * What a service manager that started this process is told: that it serves, that it stops, and at times that it lives. Does nothing where
 * there is none. Told by `systemd-notify`, since Node has no sockets of that kind; the unit needs `NotifyAccess=all`.
 * Source: systemd, sd_notify(3).
 */
export class ServiceManager {
  readonly #env: Env;
  readonly #onFailure: (error: Error) => void;
  readonly #aliveEveryMs: number | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(env: Env, onFailure: (error: Error) => void) {
    const { NOTIFY_SOCKET, WATCHDOG_USEC, WATCHDOG_PID, PATH } = env;
    this.#env = { NOTIFY_SOCKET, PATH };
    this.#onFailure = onFailure;
    const isMeant = WATCHDOG_PID === undefined || Number(WATCHDOG_PID) === process.pid;
    const limitMs = isMeant ? Number(WATCHDOG_USEC) / 1000 : Number.NaN;
    // Half of it, as systemd advises.
    this.#aliveEveryMs = limitMs > 0 ? Math.max(1, limitMs / 2) : undefined;
  }

  /** The server listens. From here on an event loop that stands for too long is told by silence. */
  ready(): void {
    this.#notify('READY=1', `MAINPID=${process.pid}`);
    if (this.#aliveEveryMs === undefined) return;
    this.#timer = setInterval(() => this.#notify('WATCHDOG=1'), this.#aliveEveryMs).unref();
  }

  stopping(): void {
    this.#notify('STOPPING=1');
  }

  #notify(...states: readonly string[]): void {
    if (this.#env['NOTIFY_SOCKET'] === undefined) return;
    const teller = spawn('systemd-notify', states, { env: this.#env, stdio: 'ignore' });
    teller.unref();
    teller.on('error', (error) => {
      clearInterval(this.#timer);
      this.#onFailure(error);
    });
  }
}
