import { connect, createServer, type Server, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { TestDatabase } from './test-database.js';

/** A TCP proxy to a server that can be cut and rejoined. */
export class DatabaseCable {
  readonly #to: URL;
  /** Maps the near end of each connection to its far end; `undefined` for a connection that was accepted and ignored. */
  readonly #connections = new Map<Socket, Socket | undefined>();
  #server: Server | undefined;
  #isSilent = false;
  port = 0;
  /** The cable is cut when the near side sends this string. */
  breakingPoint: string | undefined;
  /** The next connection on which the near side sends this string is cut before the response to its commit. */
  losingPoint: string | undefined;
  readonly #losing = new Set<Socket>();

  constructor(to: URL) {
    this.#to = to;
  }

  /** URL of the server through this cable. */
  get url(): string {
    const url = new URL(this.#to);
    url.hostname = '127.0.0.1';
    url.port = String(this.port);
    return url.href;
  }

  /** Lets new connections through; connections that were ignored stay ignored. */
  async join(): Promise<void> {
    this.#isSilent = false;
    if (this.#server?.listening) return;
    const server = createServer((near) => {
      this.#connections.set(near, undefined);
      near.on('error', () => {}); // the end follows
      near.on('close', () => {
        this.#connections.get(near)?.destroy();
        this.#connections.delete(near);
        this.#losing.delete(near);
      });
      near.on('data', (bytes) => {
        if (this.breakingPoint !== undefined && bytes.includes(this.breakingPoint)) this.cut();
        if (this.losingPoint === undefined || !bytes.includes(this.losingPoint)) return;
        this.losingPoint = undefined;
        this.#losing.add(near);
      });
      if (this.#isSilent)
        near.pause(); // Accepted, but no data is read or sent.
      else this.#connect(near);
    });
    await new Promise<void>((resolve) => server.listen(this.port, '127.0.0.1', resolve));
    this.#server = server;
    this.port = (server.address() as { port: number }).port; // it listens on TCP
  }

  /** Stops data in both directions without closing a connection. */
  hush(): void {
    this.#isSilent = true;
    for (const [near, far] of this.#connections) {
      near.unpipe().pause();
      far?.unpipe().pause();
    }
  }

  /** Forwards the data held since `hush`, like a suspended server that resumes. */
  thaw(): void {
    this.#isSilent = false;
    for (const [near, far] of this.#connections) {
      if (far === undefined) this.#connect(near);
      else join(near, far);
    }
  }

  cut(): void {
    this.breakingPoint = undefined;
    this.#server?.close();
    for (const near of this.#connections.keys()) near.destroy();
  }

  #connect(near: Socket): void {
    const far = connect(Number(this.#to.port || 5432), this.#to.hostname);
    this.#connections.set(near, far);
    far.on('error', () => {}); // the end follows
    far.on('close', () => near.destroy());
    far.on('data', (bytes) => {
      if (this.#losing.has(near) && bytes.includes('COMMIT')) near.destroy();
    });
    join(near, far);
  }
}

function join(near: Socket, far: Socket): void {
  near.pipe(far);
  far.pipe(near);
}

/** A cable to an empty database. */
export async function layDatabaseCable(context: TestContext) {
  const database = await TestDatabase.create();
  context.after(() => database[Symbol.asyncDispose]());
  const url = new URL(database.url);
  url.password ||= 'a-password-of-no-use';
  const cable = new DatabaseCable(url);
  await cable.join();
  context.after(() => cable.cut());
  return { cable, url, databaseFlag: `--server-database-url=${cable.url}` };
}
