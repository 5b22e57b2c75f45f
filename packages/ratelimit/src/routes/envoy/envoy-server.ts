import type * as grpc from '@grpc/grpc-js';
import type { Logger } from '@plinth/kernel';
import type { EnvoyService } from '../../domain/envoy-service.js';
import { rateLimitError } from '../../errors.js';
import type { ResponseContext } from '../wire-response.js';
import { envoyDescription } from './envoy-description.js';
import { readEnvoyRequest, toEnvoyResponse } from './envoy-wire.js';

export interface EnvoyServerDeps {
  readonly decisions: EnvoyService;
  readonly context: ResponseContext;
  readonly log: Logger;
  readonly host: string;
  /** 0 selects a free port. */
  readonly port: number;
}

/** Envoy's rate limit service over gRPC, on its own port. Source: rate-limits, section 12.2. */
export class EnvoyServer {
  readonly #deps: EnvoyServerDeps;
  #server: grpc.Server | undefined;

  constructor(deps: EnvoyServerDeps) {
    this.#deps = deps;
  }

  /** Starts listening. @returns the port. */
  async listen(): Promise<number> {
    // Loaded on demand, because few servers use it.
    const [grpcModule, { fromJSON }] = await Promise.all([
      import('@grpc/grpc-js'),
      import('@grpc/proto-loader'),
    ]);
    const { Server, ServerCredentials, status } = grpcModule;
    const definition = fromJSON(envoyDescription() as Description, {
      longs: Number,
      enums: String,
      defaults: false,
    });
    const service = definition[SERVICE_NAME];
    const server = new Server({ 'grpc.max_receive_message_length': MAX_MESSAGE_SIZE_BYTES });
    // The loader returns services and messages in one record; this entry is a service.
    server.addService(service as grpc.ServiceDefinition, {
      ShouldRateLimit: (
        call: grpc.ServerUnaryCall<unknown, object>,
        callback: grpc.sendUnaryData<object>,
      ) => {
        this.#respond(call.request).then(
          (response) => callback(null, response),
          (error: unknown) => {
            if (rateLimitError.is(error, 'check_invalid')) {
              callback({ code: status.INVALID_ARGUMENT, details: error.message });
              return;
            }
            if (rateLimitError.is(error, 'store_unavailable')) {
              callback({ code: status.UNAVAILABLE, details: error.message });
              return;
            }
            this.#deps.log.error({ err: error }, 'envoy request failed');
            callback({ code: status.INTERNAL, details: 'internal error' });
          },
        );
      },
    });
    server.addService(definition['grpc.health.v1.Health'] as grpc.ServiceDefinition, {
      Check: (
        call: grpc.ServerUnaryCall<{ readonly service?: string }, object>,
        callback: grpc.sendUnaryData<object>,
      ) => {
        if (HEALTHY_NAMES.has(call.request.service ?? '')) callback(null, { status: 'SERVING' });
        else callback({ code: status.NOT_FOUND, details: 'unknown service' });
      },
    });
    this.#server = server;
    const { host, port } = this.#deps;
    const address = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
    return await new Promise((resolve, reject) => {
      server.bindAsync(address, ServerCredentials.createInsecure(), (error, boundPort) => {
        if (error) reject(error);
        else resolve(boundPort);
      });
    });
  }

  async close(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    server?.forceShutdown();
  }

  async #respond(request: unknown): Promise<object> {
    const { decisions, context } = this.#deps;
    const response = toEnvoyResponse(await decisions.decide(readEnvoyRequest(request)), context);
    return {
      ...response,
      statuses: response.statuses.map((status) => {
        const seconds: unknown = Reflect.get(status, 'durationUntilReset');
        return seconds === undefined ? status : { ...status, durationUntilReset: { seconds } };
      }),
    };
  }
}

/** The loader's type requires fields on every level. */
type Description = Parameters<typeof import('@grpc/proto-loader').fromJSON>[0];

const SERVICE_NAME = 'envoy.service.ratelimit.v3.RateLimitService';

/**
 * Names accepted by health checks: the process, or the service by the reference service's name or
 * by its own.
 */
const HEALTHY_NAMES: ReadonlySet<string> = new Set(['', 'ratelimit', SERVICE_NAME]);

const MAX_MESSAGE_SIZE_BYTES = 1_048_576;
