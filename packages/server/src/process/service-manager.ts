import { spawn } from 'node:child_process';

type Env = Readonly<Record<string, string | undefined>>;

/**
 * Notifies the service manager that started this process: ready, stopping, and regularly alive. Does nothing without one. Uses
 * `systemd-notify`, because Node has no datagram Unix sockets; the unit needs `NotifyAccess=all`. Source: systemd, sd_notify(3).
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
    // Half the watchdog interval, as systemd recommends.
    this.#aliveEveryMs = limitMs > 0 ? Math.max(1, limitMs / 2) : undefined;
  }

  /** Call when the server accepts requests. From then on, a blocked event loop stops the watchdog notifications. */
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
    const child = spawn('systemd-notify', states, { env: this.#env, stdio: 'ignore' });
    child.unref();
    child.on('error', (error) => {
      clearInterval(this.#timer);
      this.#onFailure(error);
    });
  }
}
