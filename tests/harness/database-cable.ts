import { connect, createServer, type Server, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { TestDatabase } from './test-database.js';

/** A way to a server that can be cut and joined again. */
export class DatabaseCable {
  readonly #to: URL;
  readonly #sockets = new Set<Socket>();
  #server: Server | undefined;
  #isSilent = false;
  port = 0;
  /** It is cut when the near side says this. */
  breakingPoint: string | undefined;

  constructor(to: URL) {
    this.#to = to;
  }

  /** Lets new connections through; those that were silent stay so. */
  async join(): Promise<void> {
    this.#isSilent = false;
    if (this.#server?.listening) return;
    const server = createServer((near) => {
      this.#sockets.add(near);
      if (this.#isSilent) return; // It is taken, and nobody says a word.
      near.on('data', (bytes) => {
        if (this.breakingPoint !== undefined && bytes.includes(this.breakingPoint)) this.cut();
      });
      const far = connect(Number(this.#to.port || 5432), this.#to.hostname);
      for (const [socket, other] of [
        [near, far],
        [far, near],
      ] as const) {
        this.#sockets.add(socket);
        socket.on('error', () => {}); // the end follows
        socket.on('close', () => {
          this.#sockets.delete(socket);
          other.destroy();
        });
        socket.pipe(other);
      }
    });
    await new Promise<void>((resolve) => server.listen(this.port, '127.0.0.1', resolve));
    this.#server = server;
    this.port = (server.address() as { port: number }).port; // it listens on TCP
  }

  /** Nothing gets through any more in either direction, and no connection is closed. */
  hush(): void {
    this.#isSilent = true;
    for (const socket of this.#sockets) socket.unpipe().pause();
  }

  cut(): void {
    this.breakingPoint = undefined;
    this.#server?.close();
    for (const socket of this.#sockets) socket.destroy();
  }
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
  const throughCable = new URL(url);
  throughCable.hostname = '127.0.0.1';
  throughCable.port = String(cable.port);
  return { cable, url, databaseFlag: `--server-database-url=${throughCable.href}` };
}
