import { fileURLToPath } from 'node:url';
import {
  Client,
  type ClientOptions,
  type ClientReadableStream,
  credentials,
  Metadata,
  type ServiceError,
  type StatusObject,
} from '@grpc/grpc-js';
import { type Table, tableFromIPC } from 'apache-arrow';
import protobuf from 'protobufjs';

const PROTO = fileURLToPath(new URL('../../harness/flight.proto', import.meta.url));
const types = new protobuf.Root().loadSync(PROTO, { keepCase: true });

type Fields = Readonly<Record<string, unknown>>;

/** Encodes a message of `flight.proto`. */
export function encode(type: string, fields: Fields): Buffer {
  const message = types.lookupType(`test.${type}`);
  return Buffer.from(message.encode(message.fromObject(fields)).finish());
}

export function decode(type: string, bytes: Uint8Array): Record<string, unknown> {
  const message = types.lookupType(`test.${type}`);
  return message.toObject(message.decode(bytes), { longs: String, defaults: true });
}

/** Encodes a Flight SQL command as clients wrap it. */
export function command(name: string, type: string, fields: Fields = {}): Buffer {
  const type_url = `type.googleapis.com/arrow.flight.protocol.sql.${name}`;
  return encode('Any', { type_url, value: encode(type, fields) });
}

export interface FlightMessage {
  readonly header: Uint8Array;
  readonly body: Uint8Array;
}

export interface CallOptions {
  readonly metadata?: Readonly<Record<string, string | readonly string[]>>;
  readonly deadlineMs?: number;
}

/** Arrow Flight at protocol level, with details that a client library would hide. */
export class FlightClient {
  readonly #client: Client;

  constructor(url: string, options: ClientOptions = {}) {
    this.#client = new Client(new URL(url).host, credentials.createInsecure(), options);
  }

  /** Starts a call with these bytes as its only message. */
  stream(
    method: string,
    message: Uint8Array,
    options: CallOptions = {},
  ): ClientReadableStream<Buffer> {
    return this.#client.makeServerStreamRequest(
      `/arrow.flight.protocol.FlightService/${method}`,
      (bytes: Uint8Array) => Buffer.from(bytes),
      (bytes) => bytes,
      message,
      metadataOf(options),
      callOptionsOf(options),
    );
  }

  /** All messages of a call. Rejects with the status. */
  async call(method: string, message: Uint8Array, options: CallOptions = {}): Promise<Buffer[]> {
    return await this.stream(method, message, options).toArray();
  }

  async doGet(ticket: Uint8Array, options: CallOptions = {}): Promise<FlightMessage[]> {
    return (await this.call('DoGet', encode('Ticket', { ticket }), options)).map(flightMessageOf);
  }

  /** Returns the complete result for a ticket. */
  async table(ticket: Uint8Array, options: CallOptions = {}): Promise<Table> {
    return tableOf(await this.doGet(ticket, options));
  }

  /** Returns the announced schema of a command and its result. */
  async execute(cmd: Uint8Array, options: CallOptions = {}) {
    const [info] = await this.call(
      'GetFlightInfo',
      encode('Descriptor', { type: 2, cmd }),
      options,
    );
    const { schema, endpoint, total_records } = decode('Info', info ?? Buffer.alloc(0)) as {
      readonly schema: Uint8Array;
      readonly endpoint: readonly { readonly ticket: { readonly ticket: Uint8Array } }[];
      readonly total_records: string;
    };
    const announced = tableFromIPC(schema).schema;
    const table = await this.table(endpoint[0]?.ticket.ticket ?? Buffer.alloc(0), options);
    return { announced, table, endpointCount: endpoint.length, total_records };
  }

  /** A bidirectional call: sends `messages` and ends the stream. */
  async exchange(
    method: string,
    messages: readonly Uint8Array[],
    options: CallOptions = {},
  ): Promise<{ readonly messages: Buffer[]; readonly headers: Metadata }> {
    const call = this.#client.makeBidiStreamRequest(
      `/arrow.flight.protocol.FlightService/${method}`,
      (bytes: Uint8Array) => Buffer.from(bytes),
      (bytes: Buffer) => bytes,
      metadataOf(options),
      callOptionsOf(options),
    );
    let headers = new Metadata();
    call.on('metadata', (received) => {
      headers = received;
    });
    for (const message of messages) call.write(message);
    call.end();
    return { messages: await call.toArray(), headers };
  }

  close(): void {
    this.#client.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

export function flightMessageOf(bytes: Uint8Array): FlightMessage {
  const { data_header, data_body } = decode('Data', bytes) as unknown as {
    readonly data_header: Uint8Array;
    readonly data_body: Uint8Array;
  };
  return { header: data_header, body: data_body };
}

/** Parses the messages with an independent implementation of Arrow. */
export function tableOf(messages: readonly FlightMessage[]): Table {
  return tableFromIPC(
    Buffer.concat(messages.flatMap(({ header, body }) => [framed(header), body])),
  );
}

/** Rows as plain objects; 64-bit integers stay exact. */
export const rowsOfTable = (table: Table): unknown[] =>
  table.toArray().map((row: { toJSON(): object }) => row.toJSON());

/** Returns the final status of a call. */
export async function statusOf(
  response: Promise<unknown>,
): Promise<Pick<StatusObject, 'code' | 'details'>> {
  try {
    await response;
  } catch (error) {
    const { code, details } = error as ServiceError;
    return { code, details };
  }
  return { code: 0, details: '' };
}

export const jsonTicket = (fields: Fields): Buffer => Buffer.from(JSON.stringify(fields));

function framed(header: Uint8Array): Buffer {
  const size = (header.length + 7) & ~7;
  const bytes = Buffer.alloc(8 + size);
  bytes.writeInt32LE(-1, 0);
  bytes.writeInt32LE(size, 4);
  bytes.set(header, 8);
  return bytes;
}

function metadataOf({ metadata = {} }: CallOptions): Metadata {
  const made = new Metadata();
  for (const [key, value] of Object.entries(metadata)) {
    for (const each of [value].flat()) made.add(key, each);
  }
  return made;
}

const callOptionsOf = ({ deadlineMs }: CallOptions) =>
  deadlineMs === undefined ? {} : { deadline: Date.now() + deadlineMs };
