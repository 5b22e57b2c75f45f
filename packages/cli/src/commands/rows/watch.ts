import { setTimeout as sleep } from 'node:timers/promises';
import { EventStreamParser, type StreamEvent } from '@plinth/kernel/event-stream';
import { CommandFailed, EXIT } from '@plinth/server/process/command-failed.js';
import { Command } from 'commander';
import {
  bytesOf,
  type Connection,
  callOk,
  connectionOf,
  databaseOf,
  withConnection,
} from '../connection.js';
import { withQueryFormat } from '../output/listing.js';
import { print, printNote } from '../output/terminal.js';

const FIRST_RETRY_MS = 500;
const MAX_RETRY_MS = 10_000;
/** The server sends a heartbeat every 15 seconds. */
const SILENCE_MS = 40_000;
/** Below the maximum string length of Node.js, 2^29 characters. */
const MAX_EVENT_LENGTH = 500_000_000;

const EXAMPLES = `
Examples:
  plinth watch -d home "SELECT * FROM readings WHERE room = 'Kitchen'"
  plinth watch -d home --format jsonl 'SELECT time, temp FROM readings WHERE temp > 30'
  plinth watch -d home "SELECT date_bin(INTERVAL '1 minute', time) AS minute, avg(temp) FROM readings GROUP BY 1"

After a lost connection, the command continues where it stopped. Stop it with Ctrl+C.`;

export function watchCommand(): Command {
  const command = new Command('watch')
    .description('print newly written rows that match a SQL query')
    .argument('<query>', 'SELECT from one table')
    .option('--since <position>', 'print rows written after this position')
    .option('--show-positions', 'print the position after each event to standard error');
  return withQueryFormat(withConnection(command, { database: true }))
    .addHelpText('after', EXAMPLES)
    .action(async (query: string) => {
      await new Watch(command, query).run();
    });
}

class Watch {
  readonly #connection: Connection;
  readonly #query: Readonly<Record<string, string>>;
  readonly #format: string;
  readonly #showsPositions: boolean;
  #position: string | undefined;
  #header: string | undefined;

  constructor(command: Command, q: string) {
    const { format, since, showPositions } = command.opts<{
      readonly format: string;
      readonly since?: string;
      readonly showPositions?: boolean;
    }>();
    this.#connection = connectionOf(command.opts());
    this.#query = { db: databaseOf(this.#connection), q, format };
    this.#format = format;
    this.#position = since;
    this.#showsPositions = showPositions ?? false;
  }

  /** Runs until the server ends the stream permanently. */
  async run(): Promise<void> {
    let retryMs = FIRST_RETRY_MS;
    let hasStarted = false;
    for (;;) {
      try {
        for await (const event of this.#events()) {
          retryMs = FIRST_RETRY_MS;
          hasStarted = true;
          this.#show(event);
        }
        printNote('plinth: the connection was closed; reconnecting\n');
      } catch (error) {
        if (!hasStarted || !isTemporary(error)) throw error;
        printNote(`plinth: ${error instanceof Error ? error.message : error}; reconnecting\n`);
      }
      await sleep(retryMs);
      retryMs = Math.min(MAX_RETRY_MS, retryMs * 2);
    }
  }

  async *#events(): AsyncGenerator<StreamEvent> {
    const silence = new AbortController();
    let timer = setTimeout(() => silence.abort(), SILENCE_MS);
    try {
      const response = await callOk(this.#connection, 'api/v3/subscribe', {
        query: {
          ...this.#query,
          ...(this.#position !== undefined && { since: this.#position }),
        },
        signal: silence.signal,
      });
      const restart = (): void => {
        clearTimeout(timer);
        timer = setTimeout(() => silence.abort(), SILENCE_MS);
      };
      const parser = new EventStreamParser(MAX_EVENT_LENGTH);
      const decoder = new TextDecoder();
      for await (const piece of bytesOf(response)) {
        restart();
        for (const event of parser.take(decoder.decode(piece, { stream: true }))) {
          yield event;
          this.#position = event.id || this.#position;
        }
        // Heartbeats also contain positions.
        this.#position = parser.lastId || this.#position;
      }
    } catch (error) {
      // The connection broke during the response.
      if (error instanceof CommandFailed) throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  #show({ event, data, id }: StreamEvent): void {
    switch (event) {
      case 'message':
      case 'bucket':
        this.#print(data);
        break;
      case 'gap': {
        const { from_time, to_time } = JSON.parse(data) as Record<string, string>;
        printNote(
          `plinth: rows written between ${from_time} and ${to_time} can no longer be sent; query the table for them\n`,
        );
        break;
      }
      case 'dropped': {
        const { rows, from_time, to_time } = JSON.parse(data) as Record<string, string | number>;
        printNote(
          `plinth: rows dropped because the output was read too slowly: ${rows}, written between ${from_time} and ${to_time}\n`,
        );
        break;
      }
      case 'end':
        throw endOf(data);
      default: // 'start', and events of later releases
    }
    if (this.#showsPositions && id !== '') printNote(`${id}\n`);
  }

  #print(text: string): void {
    // Each CSV event starts with a header line, which changes when columns are added.
    const [header = ''] = text.split('\n', 1);
    const isKnown = this.#format === 'csv' && header === this.#header;
    this.#header = header;
    print(`${isKnown ? text.slice(header.length + 1) : text}\n`);
  }
}

/** End reasons after which a stream can be continued. */
const TEMPORARY = [
  'the server is shutting down',
  'a column of the table was converted, or the table was created again',
];

function endOf(data: string): CommandFailed {
  const { reason } = JSON.parse(data) as { readonly reason: string };
  const isTemporary = TEMPORARY.includes(reason);
  return new CommandFailed(
    `the server ended the stream: ${reason}`,
    isTemporary ? EXIT.unreachable : EXIT.failed,
  );
}

/** An unavailable server may come back; an invalid statement or token remains invalid. */
const isTemporary = (error: unknown): boolean =>
  error instanceof CommandFailed &&
  (error.exitCode === EXIT.unreachable || / returned 50[234]:/.test(error.message));
